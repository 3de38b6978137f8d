"""Damages and swaps every file of the home, and checks the answers and the reported faults.

    python tests/faults/home_rounds.py [--rounds 300] [--seed 1]

Two repositories have unique content in each kind of file. Each round damages, replaces or removes
one file of the home, or swaps two; then every question is asked of both repositories. These are
faults: a search with a different answer, a lost or altered saved context, content of the other
repository, a text sent without consent, and any unworded exception. A log may lose its content;
such losses are counted.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from embedding_server import EmbeddingServer, embedding_server
from faults.test_damaged_files import flipped, overwritten, shuffled, truncated, zeroed
from faults.two_sides import Home, Side, made_sides

from codelens.bearer_token import bearer_token
from codelens.config import load
from codelens.engine.engine import Engine
from codelens.engine.upkeep.diagnosis import examine
from codelens.errors import CodelensError
from codelens.focus import waiting_turns
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.focus_turn import path_of

PROVIDER = "ollama"
FILL_EVERY = 10
"""After this many rounds, every kind of file is written again."""
_LEAST_SHUFFLED = 2 * 16_384
_PATIENT = frozenset({"index", "search", "contexts"})
"""Kinds that must give the same answers as before: rebuilt, or restored from a copy."""

_REFUSALS = {"focus": (CodelensError, OSError)}
"""A forest's file is read below the layer that words errors: `codelens focus` and the hooks."""


class World(NamedTuple):
    """Two repositories, their undamaged home, and the answers about each."""

    folder: Path
    sides: tuple[Side, Side]
    right: dict[str, dict[str, list[str]]]
    server: EmbeddingServer

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def restored(self) -> None:
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.copytree(self.folder / "before", self.home)


def engine_at(home: Path) -> Engine:
    return Engine(load({"CODELENS_HOME": str(home)}))


def asked(home: Home, side: Side) -> dict[str, Callable[[], list[str]]]:
    """All questions, by the files they need."""
    root, engine = side.repo.root, home.engine
    return {
        "search": lambda: [
            _results(engine, query, root) for query in (side.word, "return 1", "none_of_it")
        ],
        **home.questions(side),
        "usage": lambda: [engine.usage() and "counted"],
        "vectors": lambda: [engine.meaning_status(path=root).provider.provider],
        "doctor": lambda: [str(len([*examine(engine.settings)])) and "examined"],
    }


def _results(engine: Engine, query: str, root: Path) -> str:
    """Results and notes, except notes about a file of the home."""
    found = engine.search(query, path=root, limit=8, explain=True)
    home = str(engine.settings.home)
    notes = [note for note in found.notes if home not in note]
    return json.dumps([[asdict(result) for result in found.results], notes], default=str)


def made_world(folder: Path, server: EmbeddingServer) -> World:
    home_path = folder / "home"
    home_path.mkdir()
    (home_path / "config.toml").write_text("budget_ms = 60000\n")
    with engine_at(home_path) as engine:
        home = Home(engine, home_path)
        sides = made_sides(folder, home)
        engine.meaning_enable(PROVIDER, endpoint=server.endpoint(PROVIDER), path=sides[0].repo.root)
        engine.meaning_sync(path=sides[0].repo.root)
        engine.usage()
        for side in sides:
            place = side.place
            turn = waiting_turns.Utterance(
                "prompt", f"wax the {side.word}", {side.word: 1}, 1.0, "main", str(place.root)
            )
            waiting_turns.put(path_of(str(home_path), place, FocusSettings(), "another"), turn)
            pack = engine.pack(folder / f"{side.word}.pack", path=side.repo.root)
            assert pack
        bearer_token(home_path)
    (home_path / "junk.bin").write_bytes(bytes(range(256)))
    (home_path / "indexes" / "index-junk.db").write_bytes(b"junk")
    shutil.copytree(home_path, folder / "before")
    with engine_at(home_path) as engine:
        home = Home(engine, home_path)
        right = {
            side.word: {kind: ask() for kind, ask in asked(home, side).items()} for side in sides
        }
    return World(folder, sides, right, server)


def _of_bytes(change: Callable[[bytearray, Random], None]) -> Callable[[Path, Path, Random], None]:
    def damage(file: Path, _: Path, pick: Random) -> None:
        data = bytearray(file.read_bytes()) or bytearray(b"\0")
        if change is not shuffled or len(data) >= _LEAST_SHUFFLED:
            change(data, pick)
        file.write_bytes(data)

    return damage


def _removed(file: Path, _: Path, __: Random) -> None:
    file.unlink()


def _emptied(file: Path, _: Path, __: Random) -> None:
    file.write_bytes(b"")


def _junk(file: Path, _: Path, pick: Random) -> None:
    file.write_bytes(pick.randbytes(pick.choice((1, 100, 70_000))))


def _a_folder(file: Path, _: Path, __: Random) -> None:
    file.unlink()
    file.mkdir()


def _a_pipe(file: Path, _: Path, __: Random) -> None:
    file.unlink()
    os.mkfifo(file)


def _a_dead_link(file: Path, _: Path, __: Random) -> None:
    file.unlink()
    file.symlink_to("nowhere")


def _copied_over(file: Path, other: Path, _: Random) -> None:
    shutil.copyfile(other, file)


def _swapped(file: Path, other: Path, _: Random) -> None:
    data = file.read_bytes()
    file.write_bytes(other.read_bytes())
    other.write_bytes(data)


DAMAGES: dict[str, Callable[[Path, Path, Random], None]] = {
    **{f.__name__: _of_bytes(f) for f in (flipped, zeroed, shuffled, truncated, overwritten)},
    **{
        f.__name__.strip("_").replace("_", " "): f
        for f in (_removed, _emptied, _junk, _a_folder, _a_pipe, _a_dead_link)
    },
    "copied over": _copied_over,
    "swapped": _swapped,
}


def _files(home: Path) -> list[Path]:
    return sorted(file for file in home.rglob("*") if file.is_file())


def _other_for(file: Path, files: list[Path], sides: tuple[Side, Side], pick: Random) -> Path:
    """The other repository's file of the same kind; sometimes any file."""
    ids = [side.place.repository for side in sides]
    for own_id, other_id in (ids, ids[::-1]):
        if own_id in file.name and pick.random() < 0.8:
            shape = file.name.replace(own_id, other_id)
            alike = [
                other
                for other in files
                if other.parent == file.parent and other_id in other.name
                and other.suffixes == file.suffixes and other.name[:20] == shape[:20]
            ]  # fmt: skip
            if alike:
                return pick.choice(alike)
    return pick.choice([other for other in files if other != file])


def judged(world: World, counts: Counter[str]) -> Iterator[str]:
    """Asks every question of both repositories; yields the faults, and counts the rest."""
    sent_before = len(world.server.texts)
    with engine_at(world.home) as engine:
        home = Home(engine, world.home)
        for side, other in (world.sides, world.sides[::-1]):
            for kind, ask in asked(home, side).items():
                counts["questions"] += 1
                right = world.right[side.word][kind]
                try:
                    answers = ask()
                except _REFUSALS.get(kind, CodelensError):
                    counts["refused in words"] += 1
                    if kind == "search":
                        counts["searches refused in words"] += 1
                    continue
                except Exception as error:
                    yield f"{side.word} {kind}: {type(error).__name__}: {error}"
                    continue
                if any(other.word in row for row in answers):
                    yield f"{side.word} {kind}: of the other repository: {answers}"
                elif answers == right:
                    counts["same"] += 1
                elif kind in _PATIENT:
                    yield f"{side.word} {kind}: {answers} in place of {right}"
                elif set(answers) <= set(right):
                    counts[f"less: {kind}"] += 1
                else:
                    counts[f"altered: {kind}"] += 1
    for text in world.server.texts[sent_before:]:
        if world.sides[1].word in text:
            yield f"sent without consent: {text!r}"


def rounds(
    world: World, number: int, pick: Random, counts: Counter[str], among: str = ""
) -> list[str]:
    """Runs rounds on files whose names contain `among`; returns the faults."""
    faults: list[str] = []
    ways = list(DAMAGES.items())
    for at in range(number):
        world.restored()
        files = [file for file in _files(world.home) if among in str(file)]
        # Each file in turn with each damage, in random order.
        file = files[(at * 7 + pick.randrange(2)) % len(files)]
        name, damage = ways[at % len(ways)]
        other = _other_for(file, _files(world.home), world.sides, pick)
        damage(file, other, pick)
        counts["rounds"] += 1
        lost = "less: pins"
        before = counts[lost]
        counts[f"by {name}"] += 1
        what = f"{name}: {file.relative_to(world.home)}"
        if "swap" in name or "over" in name:
            what += f" and {other.relative_to(world.home)}"
        found = [f"{what}: {fault}" for fault in judged(world, counts)]
        if at % FILL_EVERY == FILL_EVERY - 1:
            found += [f"{what}: afterwards {fault}" for fault in _written_again(world)]
        faults += found
        if counts[lost] > before:
            print(f"less: {what}", flush=True)
        for fault in found:
            print(f"FAULT {fault}", flush=True)
    return faults


def _written_again(world: World) -> Iterator[str]:
    """Writes all kinds again after any damage."""
    with engine_at(world.home) as engine:
        home = Home(engine, world.home)
        for side in world.sides:
            try:
                engine.forget([side.word], path=side.repo.root)
                home.fill(side)
            except CodelensError:
                continue
            except Exception as error:
                yield f"{type(error).__name__}: {error}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--file", default="", help="only files with this in their path")
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="rounds-") as folder, embedding_server() as server:
        world = made_world(Path(folder), server)
        print(f"{len(_files(world.home))} files in the home", flush=True)
        faults = rounds(world, args.rounds, Random(args.seed), counts, args.file)
    for what, count in sorted(counts.items()):
        print(f"{count:8,}  {what}")
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
