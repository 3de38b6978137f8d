#!/usr/bin/env python3
"""Measures what a warm query costs: CPU of the ranking alone, and of the whole answer.

    python benchmarks/queries.py REPOSITORY [--queries N] [--home DIR] [--json FILE]

The queries are generated from the repository, always the same ones for the same files: see `MIX`.
One long-lived process answers them, after a few warm-up queries; their postings may be cold.
`ranking` is `codelens.rank.search_pipeline.search` alone, over a view that is already checked.
`answer` is `Engine.search` from end to end, including the freshness check, for every fourth query,
asked again. CPU is that of the process and its children. `--answers FILE` writes every result, to
compare two versions byte by byte.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from codelens.engine.current_view import CurrentView, ViewRequest
from codelens.engine.engine import Engine
from codelens.extract.tokenizer import STOPWORDS, parts_of_word
from codelens.rank.search_pipeline import search
from codelens.rank.search_request import Outcome, Request
from codelens.types import Symbol

MIX = {
    "symbol": (20, "the name of a definition, one in four with its class"),
    "words": (15, "two or three words of the identifiers of one file"),
    "sentence": (15, "the first sentence of a docstring or doc comment"),
    "question": (10, "15 to 30 words of doc text"),
    "path": (8, "a path, its last two parts, or path:line"),
    "message": (10, "a string literal of three words or more"),
    "common": (10, "two to six of the 40 words that stand in most files"),
    "typo": (8, "a name with two letters swapped, or one dropped"),
    "stopwords": (4, "function words alone"),
}
"""Kind -> percent of the queries, and a description."""
SEPARATE = {
    "text": "mode text: a string literal, or a part of a line",
    "regex": "mode regex: a name as a call, or two parts of a name with anything between",
}
"""Kinds with a separate row, not part of the mix."""
SAMPLED_FILES = 600
WARM_UP = 12
ANSWERED = 4
"""Every fourth query is asked again from end to end."""
SLOWEST = 10
_LITERAL = re.compile(r'"([^"\\\n]{12,120})"|\'([^\'\\\n]{12,120})\'')
_WORD = re.compile(r"[^\W\d_]{2,}")
_STOPPED = ["how do i", "what is this", "which of these", "and or not", "is it the same as that"]


class Asked(NamedTuple):
    """A query of the benchmark."""

    kind: str
    text: str
    mode: str = "auto"


class Timed(NamedTuple):
    """The cost of a query, ms of CPU."""

    asked: Asked
    ranking: float
    answer: float | None


class Source(NamedTuple):
    """The raw material of queries: a sample of the view."""

    paths: list[str]
    names: list[Symbol]
    identifiers: list[list[str]]
    """By file."""
    docs: list[str]
    literals: list[str]
    lines: list[str]
    common: list[str]


def sample(view: CurrentView, pick: random.Random) -> Source:
    """Samples files of the snapshot, with their contents."""
    snapshot = view.snapshot
    files = sorted(
        (one for one in snapshot.files if one.content is not None), key=lambda one: one.path
    )
    chosen = pick.sample(files, min(SAMPLED_FILES, len(files)))
    symbols = snapshot.symbols({one.content for one in chosen if one.content is not None})
    literals: list[str] = []
    lines: list[str] = []
    spread: Counter[str] = Counter()
    for file in chosen:
        text = (view.read(file) or b"")[:200_000].decode("utf-8", "replace")
        found = [first or second for first, second in _LITERAL.findall(text)]
        literals += [one for one in found if len(_WORD.findall(one)) >= 3][:4]
        some = [line.strip() for line in text.splitlines() if 20 < len(line.strip()) < 120]
        lines += pick.sample(some, min(2, len(some)))
        spread.update({word.lower() for word in _WORD.findall(text)} - STOPWORDS)
    own = [symbols.get(one.content or 0, []) for one in chosen]
    names = [one for found in own for one in found if len(one.name) > 3][:20_000]
    return Source(
        [one.path.decode("utf-8", "replace") for one in chosen],
        names,
        [found for one in own if len(found := [x.name for x in one if x.name.isidentifier()]) > 1],
        [doc for found in own for x in found if len(_WORD.findall(doc := x.doc)) > 3],
        literals or lines,
        lines or ["nothing"],
        [word for word, _ in sorted(spread.items(), key=lambda row: (-row[1], row[0]))[:40]],
    )


def make(kind: str, source: Source, pick: random.Random) -> str:
    """Makes one query of a kind."""
    return _MAKERS[kind](source, pick)


def _symbol(source: Source, pick: random.Random) -> str:
    one = pick.choice(source.names)
    return one.qualified if pick.random() < 0.25 else one.name


def _words(source: Source, pick: random.Random) -> str:
    names = pick.choice(source.identifiers or [source.common])
    parts = [part for name in pick.sample(names, min(3, len(names))) for part in _parts(name)]
    return " ".join(pick.sample(parts, min(pick.choice([2, 3]), len(parts)))) or names[0]


def _parts(name: str) -> list[str]:
    return [part for part in parts_of_word(name) if len(part) > 2 and part not in STOPWORDS]


def _sentence(source: Source, pick: random.Random) -> str:
    doc = " ".join(pick.choice(source.docs or source.lines).split())
    return re.split(r"(?<=[.!?])\s", doc)[0][:300]


def _question(source: Source, pick: random.Random) -> str:
    words: list[str] = []
    wanted = pick.randint(15, 30)
    while len(words) < wanted:
        words += pick.choice(source.docs or source.lines).split()[:wanted]
    return " ".join(words[:wanted])


def _path(source: Source, pick: random.Random) -> str:
    path = pick.choice(source.paths)
    last = "/".join(path.split("/")[-2:])
    return pick.choice([path, last, f"{path}:{pick.randint(1, 200)}"])


def _message(source: Source, pick: random.Random) -> str:
    return pick.choice(source.literals)


def _common(source: Source, pick: random.Random) -> str:
    if pick.random() < 0.2:
        return "get set self return"
    return " ".join(pick.sample(source.common, min(pick.randint(2, 6), len(source.common))))


def _typo(source: Source, pick: random.Random) -> str:
    name = pick.choice(source.names).name
    at = pick.randrange(1, len(name) - 1)
    if pick.random() < 0.5:
        return name[:at] + name[at + 1 :]
    return name[:at] + name[at + 1] + name[at] + name[at + 2 :]


def _stopwords(_source: Source, pick: random.Random) -> str:
    return pick.choice(_STOPPED)


def _text(source: Source, pick: random.Random) -> str:
    return pick.choice([pick.choice(source.literals), pick.choice(source.lines)[:40]])


def _regex(source: Source, pick: random.Random) -> str:
    name = pick.choice(source.names).name
    parts = _parts(name)
    if len(parts) < 2 or pick.random() < 0.5:
        return rf"\b{re.escape(name)}\s*\("
    return rf"(?i){parts[0]}\w*{parts[-1]}"


_MAKERS: dict[str, Callable[[Source, random.Random], str]] = {
    "symbol": _symbol, "words": _words, "sentence": _sentence, "question": _question,
    "path": _path, "message": _message, "common": _common, "typo": _typo,
    "stopwords": _stopwords, "text": _text, "regex": _regex,
}  # fmt: skip


def queries(view: CurrentView, count: int) -> Iterator[Asked]:
    """The mix, shuffled; then the kinds with a separate row, a twentieth of it each."""
    pick = random.Random(41)
    source = sample(view, pick)
    if not source.names:
        raise SystemExit("no definitions in this repository: there is nothing to ask for")
    mixed = [
        Asked(kind, make(kind, source, pick))
        for kind, (share, _) in MIX.items()
        for _ in range(max(1, round(count * share / 100)))
    ]
    pick.shuffle(mixed)
    yield from mixed
    for kind in SEPARATE:
        for _ in range(max(1, count // 20)):
            yield Asked(kind, make(kind, source, pick), kind)


def cpu() -> float:
    """CPU seconds of this process and its finished children (a slow regex runs in one)."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def measure(repo: Path, count: int) -> tuple[list[Timed], list[object]]:
    """Measures every query's cost, and returns the answers."""
    gc.set_threshold(50_000, 20, 50)  # as `codelens serve` does
    timed: list[Timed] = []
    answers: list[object] = []
    with Engine() as engine, engine.pool.view(ViewRequest(repo)) as view:
        asked = [one for one in queries(view, count) if one.text.strip()]
        for one in asked[-WARM_UP:]:
            search(view.snapshot, Request(one.text), view.read)
        for one in asked:
            with view.reading():
                start = cpu()
                outcome = search(
                    view.snapshot, Request(one.text, one.mode, seconds=30.0), view.read
                )
                ranking = 1000 * (cpu() - start)
            answers.append([*one, shown(outcome)])
            timed.append(Timed(one, ranking, None))
        for at, row in list(enumerate(timed))[::ANSWERED]:
            start = cpu()
            engine.search(row.asked.text, path=repo, mode=row.asked.mode)
            timed[at] = row._replace(answer=1000 * (cpu() - start))
    return timed, answers


def shown(outcome: Outcome) -> list[object]:
    """All that a caller sees of an outcome."""
    return [
        outcome.mode,
        outcome.notes,
        [[os.fsdecode(one.file.path), *one[1:]] for one in outcome.results],
    ]


def _quantiles(values: list[float]) -> list[float]:
    """p50 and p95."""
    ordered = sorted(values)
    return [ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.5, 0.95)]


def rows(timed: list[Timed]) -> list[tuple[str, list[Timed]]]:
    mixed = [one for one in timed if one.asked.kind in MIX]
    kinds = [*MIX, *SEPARATE]
    each = [(kind, [one for one in timed if one.asked.kind == kind]) for kind in kinds]
    return [("the mix", mixed), *each]


def report(timed: list[Timed], files: int, name: str) -> str:
    lines = [
        f"{name}: {files:,} files; ms of CPU\n",
        "| queries | n | ranking p50 | p95 | max | answer p50 | p95 |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, found in rows(timed):
        ranking = [one.ranking for one in found]
        answer = [one.answer for one in found if one.answer is not None] or [0.0]
        cells = [*_quantiles(ranking), max(ranking), *_quantiles(answer)]
        shown = " | ".join(f"{one:.1f}" for one in cells)
        lines.append(f"| {kind} | {len(found)} | {shown} |")
    for title, chosen in (("the mix", MIX), ("text and regex", SEPARATE)):
        slow = sorted((-one.ranking, one.asked.kind, one.asked.text) for one in timed
                      if one.asked.kind in chosen)[:SLOWEST]  # fmt: skip
        lines.append(f"\nSlowest of {title}:")
        lines += [f"- {-cost:.1f} ms, {kind}: `{text[:110]}`" for cost, kind, text in slow]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repository", type=Path)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--home", type=Path, help="keep the index here (default: a scratch folder)")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--answers", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="codelens-queries-") as scratch:
        os.environ["CODELENS_HOME"] = str((args.home or Path(scratch)).resolve())
        timed, answers = measure(args.repository.resolve(), args.queries)
        with Engine() as engine:
            files = engine.look(path=args.repository).files
    print(report(timed, files, args.repository.resolve().name))
    if args.json:
        found = [{**one.asked._asdict(), "ranking_ms": one.ranking, "answer_ms": one.answer}
                 for one in timed]  # fmt: skip
        args.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if args.answers:
        text = json.dumps(answers, indent=1, default=os.fsdecode)
        args.answers.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
