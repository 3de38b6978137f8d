"""Checks `codelens diff`: does it report every changed line, and label renames and moves correctly?

    python benchmarks/branchdiff.py account REPOSITORY... [--commits 30]
    python benchmarks/branchdiff.py seeded REPOSITORY... [--trials 30]

`account` takes real non-merge commits, spread over the history, and removes from both sides of
each file the lines that the answer reports. The rest must be the same on both sides.
`seeded` makes small repositories from real files. It renames, moves, edits, reorders, reindents
and swaps definitions by program, and compares the reported changes with the real ones.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from codelens.answers.branch_answers import DiffAnswer, FileDiff
from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.extract.facts import facts_of
from codelens.extract.language_detection import language_of
from codelens.handles.handle_grammar import parse_handle
from codelens.types import RelPath, Symbol

LANGUAGES = (
    "python", "go", "java", "ruby", "rust", "c", "csharp", "kotlin", "javascript", "typescript",
    "php", "cpp",
)  # fmt: skip
OVERLOADED = {"java", "csharp", "kotlin", "cpp"}
CALLABLES = {"function", "method"}
TYPES = {"class", "struct", "interface", "trait", "enum"}


def git(where: Path, *words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=where, check=True, capture_output=True).stdout


# ---- account -----------------------------------------------------------------------------------


def lines_of(data: bytes) -> list[bytes]:
    return [line.rstrip() for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n")]


def reported_lines(answer: DiffAnswer) -> tuple[dict[bytes, set[int]], dict[bytes, set[int]]]:
    old: dict[bytes, set[int]] = {}
    new: dict[bytes, set[int]] = {}
    for file in answer.files:
        path = parse_handle(file.path).path or b""
        before = (parse_handle(file.old_path).path or b"") if file.old_path else path
        for part in file.outside:
            take(old, before, part.old_lines)
            take(new, path, part.new_lines)
        for one in file.definitions:
            if one.old_handle:
                take(old, parse_handle(one.old_handle).path or b"", one.old_lines)
            take(new, path, one.new_lines)
    return old, new


def take(into: dict[bytes, set[int]], path: bytes, spans: Iterable[tuple[int, int]]) -> None:
    for start, stop in spans:
        into.setdefault(path, set()).update(range(start, stop + 1))


def blob(where: Path, commit: str, path: bytes) -> bytes:
    return subprocess.run(
        ["git", "cat-file", "blob", f"{commit}:".encode() + path], cwd=where, capture_output=True
    ).stdout


def unaccounted(where: Path, commit: str, answer: DiffAnswer) -> Iterator[str]:
    names = git(where, "diff", "--no-renames", "--name-only", "-z", f"{commit}~1", commit)
    differ = {name for name in names.split(b"\0") if name}
    reported = {parse_handle(file.path).path for file in answer.files}
    reported |= {parse_handle(file.old_path).path for file in answer.files if file.old_path}
    for path in differ - reported:
        old, new = blob(where, f"{commit}~1", path), blob(where, commit, path)
        if left(lines_of(old), set()) != left(lines_of(new), set()):
            yield f"{path!r}: not reported"
    old_reported, new_reported = reported_lines(answer)
    for file in answer.files:
        if file.folded:
            continue
        path = parse_handle(file.path).path or b""
        before = (parse_handle(file.old_path).path or b"") if file.old_path else path
        old = lines_of(blob(where, f"{commit}~1", before))
        new = lines_of(blob(where, commit, path))
        left_old = left(old, old_reported.get(before, set()))
        left_new = left(new, new_reported.get(path, set()))
        if left_old != left_new:
            extra = [one for one in left_old if one not in left_new][:1]
            extra += [one for one in left_new if one not in left_old][:1]
            yield f"{file.path}: {extra}"


def left(lines: list[bytes], reported: set[int]) -> list[bytes]:
    return [line for number, line in enumerate(lines, 1) if line and number not in reported]


def account(repositories: list[Path], count: int, home: Path) -> None:
    commits, wrong, spent, definitions = 0, 0, 0.0, 0
    for where in repositories:
        every = git(where, "rev-list", "--no-merges", "--min-parents=1", "HEAD").decode().split()
        chosen = every[:: max(1, len(every) // count)][:count]
        settings = Settings(home=home)
        with Engine(settings) as engine:
            for commit in chosen:
                started = time.process_time()
                answer = engine.diff(f"{commit}~1..{commit}", path=where, uses=False)
                spent += time.process_time() - started
                commits += 1
                definitions += sum(len(file.definitions) for file in answer.files)
                for what in unaccounted(where, commit, answer):
                    wrong += 1
                    print(f"{where.name} {commit[:10]} {what}")
        print(f"{where}: {commits} commits so far, {wrong} files incomplete", flush=True)
    print(f"{commits} commits, {definitions} definitions reported, {wrong} files incomplete, "
          f"{spent:.1f} s CPU")  # fmt: skip


# ---- seeded ------------------------------------------------------------------------------------


class Trial:
    """A small repository of real files, and the changes made to it."""

    def __init__(self, root: Path, language: str, files: dict[str, bytes], rng: random.Random):
        self.root = root
        self.language = language
        self.rng = rng
        self.texts = dict(files)
        self.truth: set[tuple[str, str, str]] = set()
        """Kind of change, old and new `path#qualified`."""
        self.touched: set[str] = set()
        """Definitions that may be reported, by `path#qualified`, old or new."""
        for name, data in files.items():
            (root / name).write_bytes(data)
        git(root, "init", "-q")
        git(root, "add", "-A")
        git(root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")

    def symbols(self, name: str) -> tuple[Symbol, ...]:
        return facts_of(self.texts[name], self.language).structure.symbols

    def pick(self, kinds: set[str], least: int, *, top: bool = False) -> tuple[str, int] | None:
        found = []
        for name in sorted(self.texts):
            symbols = self.symbols(name)
            counts = Counter(one.qualified for one in symbols)
            lines = self.texts[name].split(b"\n")
            for at, one in enumerate(symbols):
                body = lines[one.start_line - 1 : one.end_line]
                alone = sum(
                    other.start_line <= one.end_line and other.end_line >= one.start_line
                    and other.parent == one.parent
                    for other in symbols
                ) == 1  # fmt: skip
                words = len(re.findall(rb"\w+", b" ".join(body)))
                if (
                    one.kind in kinds and words >= least and counts[one.qualified] == 1 and alone
                    and not (top and one.parent >= 0)
                    and re.fullmatch(r"[A-Za-z_]\w{2,}", one.name)
                    and not lines[one.start_line - 1][: _column(self.texts[name], one)].strip()
                    and self.key(name, one.qualified) not in self.touched
                    and not self.related(name, one)
                ):  # fmt: skip
                    found.append((name, at))
        return self.rng.choice(found) if found else None

    def related(self, name: str, one: Symbol) -> bool:
        prefix = self.key(name, one.qualified)
        return any(
            known.startswith(prefix + ".") or prefix.startswith(known + ".")
            for known in self.touched
        )

    @staticmethod
    def key(name: str, qualified: str) -> str:
        return f"{name}#{qualified}"

    def cut(self, name: str, one: Symbol) -> tuple[list[bytes], list[bytes], list[bytes]]:
        lines = self.texts[name].split(b"\n")
        start = one.start_line - 1
        while start and re.match(
            rb"\s*(//|#(?!\s*(include|define|if|end))|\*|/\*)", lines[start - 1]
        ):
            start -= 1
        return lines[:start], lines[start : one.end_line], lines[one.end_line :]

    # The changes. Each returns whether it was possible.

    def rename(self, kinds: set[str] = CALLABLES, how: str = "renamed") -> bool:
        chosen = self.pick(kinds, 10)
        if chosen is None:
            return False
        name, at = chosen
        one = self.symbols(name)[at]
        new = f"{one.name}Renamed" if one.name[0].isupper() else f"renamed_{one.name}"
        before, body, after = self.cut(name, one)
        word = re.compile(rb"(?<!\w)" + one.name.encode() + rb"(?!\w)")
        body = [word.sub(new.encode(), line) for line in body]
        text = b"\n".join([*before, *body, *after])
        if kinds is TYPES:
            if sum(other.name == one.name for other in self.symbols(name)) > 1:
                return False
            for other in self.symbols(name):
                _, inside, _ = self.cut(name, other)
                if other.qualified != one.qualified and word.search(b"\n".join(inside)):
                    self.touch(name, other.qualified)
            text = word.sub(new.encode(), text)
        owner = one.qualified[: -len(one.name)]
        if not self.replaced(name, text, owner + one.name, owner + new):
            return False
        self.tell(how, name, one.qualified, name, owner + new)
        return True

    def replaced(self, name: str, text: bytes, old: str = "", new: str = "") -> bool:
        """Accepts a text if a parser finds the same definitions in it, except for a new name.

        Otherwise the step changed more than it records (such as a C++ header that is parsed as C).
        """
        then = Counter(
            new + one.qualified[len(old) :] if old and _is_in(one.qualified, old) else one.qualified
            for one in self.symbols(name)
        )
        now = Counter(one.qualified for one in facts_of(text, self.language).structure.symbols)
        if then != now:
            return False
        self.texts[name] = text
        return True

    def rename_owner(self) -> bool:
        return self.rename(TYPES)

    def move(self, *, edit: bool = False) -> bool:
        chosen = self.pick(CALLABLES | (TYPES if not edit else set()), 16, top=True)
        others = [name for name in sorted(self.texts) if chosen and name != chosen[0]]
        if chosen is None or not others:
            return False
        name, at = chosen
        one = self.symbols(name)[at]
        if one.qualified != one.name:
            return False
        target = self.rng.choice(others)
        if one.qualified in {other.qualified for other in self.symbols(target)}:
            return False
        before, body, after = self.cut(name, one)
        if edit:
            body = self.edited(body)
            self.touch_inside(name, one, target)
        went = Counter(
            other.qualified
            for other in self.symbols(name)
            if one.start_byte <= other.start_byte < one.end_byte
        )
        then = [Counter(other.qualified for other in self.symbols(file)) for file in (name, target)]
        kept = self.texts[name], self.texts[target]
        self.texts[name] = b"\n".join([*before, *after])
        self.texts[target] = self.texts[target].rstrip() + b"\n\n" + b"\n".join(body) + b"\n"
        now = [Counter(other.qualified for other in self.symbols(file)) for file in (name, target)]
        if [*now] != [then[0] - went, then[1] + went]:
            self.texts[name], self.texts[target] = kept
            return False
        self.tell("moved", name, one.qualified, target, one.qualified)
        return True

    def move_and_edit(self) -> bool:
        return self.move(edit=True)

    def edited(self, body: list[bytes]) -> list[bytes]:
        places = [at for at, line in enumerate(body[1:-1], 1) if re.search(rb"\b[a-z]{3,}\b", line)]
        found = list(body)
        for at in self.rng.sample(places, max(1, len(places) // 6)) if places else ():
            found[at] = re.sub(rb"\b([a-z]{3,})\b(?!\()", rb"\1_q", found[at], count=1)
        return found

    def edit(self) -> bool:
        chosen = self.pick(CALLABLES, 10)
        if chosen is None:
            return False
        name, at = chosen
        one = self.symbols(name)[at]
        before, body, after = self.cut(name, one)
        if not self.replaced(name, b"\n".join([*before, *self.edited(body), *after])):
            return False
        self.touch(name, one.qualified)
        self.touch_inside(name, one, name)
        return True

    def reorder(self) -> bool:
        chosen = self.pick(CALLABLES, 10)
        if chosen is None:
            return False
        name, at = chosen
        symbols = self.symbols(name)
        one = symbols[at]
        later = [
            other for other in symbols
            if other.parent == one.parent and other.start_line > one.end_line + 1
            and other.kind in CALLABLES and other.end_line - other.start_line > 1
        ]  # fmt: skip
        if not later:
            return False
        other = self.rng.choice(later)
        lines = self.texts[name].split(b"\n")
        _, body, _ = self.cut(name, one)
        start = one.end_line - len(body)
        moved = [
            *lines[:start], *lines[one.end_line : other.end_line], b"", *body, b"",
            *lines[other.end_line :],
        ]  # fmt: skip
        return self.replaced(name, b"\n".join(moved))

    def reindent(self) -> bool:
        chosen = self.pick(CALLABLES, 10)
        if chosen is None or self.language == "python":
            return False
        name, at = chosen
        one = self.symbols(name)[at]
        lines = self.texts[name].split(b"\n")
        for number in range(one.start_line, one.end_line - 1):
            if lines[number].strip() and b"`" not in lines[number]:
                lines[number] = b"  " + lines[number]
        if not self.replaced(name, b"\n".join(lines)):
            return False
        self.touch(name, one.qualified)
        self.touch_inside(name, one, name)
        return True

    def swap_overloads(self) -> bool:
        if self.language not in OVERLOADED:
            return False
        for name in sorted(self.texts):
            symbols = self.symbols(name)
            for at, one in enumerate(symbols):
                following = [
                    other for other in symbols[at + 1 :]
                    if other.qualified == one.qualified and other.parent == one.parent
                    and other.start_line > one.end_line
                ]  # fmt: skip
                if one.kind in CALLABLES and following:
                    other = following[0]
                    lines = self.texts[name].split(b"\n")
                    before, first, _ = self.cut(name, one)
                    until, second, after = self.cut(name, other)
                    between = lines[one.end_line : len(until)]
                    text = b"\n".join([*before, *second, *between, *first, *after])
                    return self.replaced(name, text)
        return False

    def move_file(self) -> bool:
        name = self.rng.choice(sorted(self.texts))
        if name.startswith("moved_") or any(known.startswith(f"{name}#") for known in self.touched):
            return False
        new = f"moved_{name}"
        self.texts[new] = self.texts.pop(name)
        if self.rng.random() < 0.5:
            git(self.root, "mv", name, new)
        self.truth.add(("file", name, new))
        return True

    def tell(self, how: str, name: str, old: str, target: str, new: str) -> None:
        name = next((was for what, was, now in self.truth if (what, now) == ("file", name)), name)
        self.truth.add((how, self.key(name, old), self.key(target, new)))
        self.touch(name, old)
        self.touch(target, new)

    def touch(self, name: str, qualified: str) -> None:
        self.touched.add(self.key(name, qualified))

    def touch_inside(self, name: str, one: Symbol, target: str) -> None:
        """An edit of a definition may also have edited the definitions inside it."""
        for other in self.symbols(name):
            if other.qualified.startswith(f"{one.qualified}."):
                self.touch(target, other.qualified)
                self.touch(name, other.qualified)

    def write(self) -> None:
        for file in self.root.iterdir():
            if file.is_file() and file.name not in self.texts:
                file.unlink()
        for name, data in self.texts.items():
            (self.root / name).write_bytes(data)


def _is_in(qualified: str, owner: str) -> bool:
    return qualified == owner or qualified.startswith(f"{owner}.")


def _column(text: bytes, one: Symbol) -> int:
    return one.start_byte - (text.rfind(b"\n", 0, one.start_byte) + 1)


def reported_changes(files: tuple[FileDiff, ...]) -> tuple[set[tuple[str, str, str]], set[str]]:
    """Renames and moves, and all reported definitions."""
    found: set[tuple[str, str, str]] = set()
    reported: set[str] = set()
    for file in files:
        if file.how == "renamed":
            found.add(("file", file.old_path, file.path))
        for one in file.definitions:
            old = one.old_handle.removeprefix("HEAD:")
            reported |= {one.handle.removeprefix("HEAD:"), old} - {""}
            found |= {(how, old, one.handle) for how in ("moved", "renamed") if how in one.how}
    return found, reported


def sources(repositories: list[Path]) -> dict[str, list[tuple[str, bytes]]]:
    found: dict[str, list[tuple[str, bytes]]] = {}
    for where in repositories:
        for name in git(where, "ls-tree", "-r", "-z", "--name-only", "HEAD").split(b"\0"):
            if not name or language_of(RelPath(name), b"", {}) not in LANGUAGES:
                continue
            data = blob(where, "HEAD", name)
            language = language_of(RelPath(name), data, {})
            if language not in LANGUAGES:
                continue
            if 1500 < len(data) < 40_000 and b"\0" not in data and data.isascii():
                symbols = facts_of(data, language).structure.symbols
                if sum(one.kind in CALLABLES for one in symbols) > 5:
                    flat = re.sub(r"[^\w.]", "_", name.decode())
                    if not re.search(r"(?i)test|spec|vendor|generated|[._]min[._]", flat):
                        found.setdefault(language, []).append((flat, data))
    return found


def seeded(
    repositories: list[Path], trials: int, home: Path, seed: int, only: str, keep: str
) -> None:
    pool = sources(repositories)
    sums: dict[str, Counter[str]] = {}
    for language in sorted(pool):
        if len(pool[language]) < 4 or only.partition(":")[0] not in {"", language}:
            continue
        counts = sums.setdefault(language, Counter())
        for number in range(trials):
            if only.partition(":")[2] not in {"", str(number)}:
                continue
            rng = random.Random(f"{seed} {language} {number}")
            with tempfile.TemporaryDirectory() as folder, Engine(Settings(home=home)) as engine:
                files = dict(rng.sample(pool[language], 3))
                trial = Trial(Path(folder), language, files, rng)
                done = []
                for _ in range(rng.randint(1, 4)):
                    step = rng.choice(
                        (trial.rename, trial.rename, trial.move, trial.move_and_edit, trial.edit,
                         trial.reorder, trial.reindent, trial.swap_overloads, trial.rename_owner,
                         trial.move_file)
                    )  # fmt: skip
                    if step():
                        done.append(step.__name__)
                trial.write()
                if rng.random() < 0.3:
                    git(trial.root, "add", "-A")
                if keep:
                    shutil.copytree(folder, keep, dirs_exist_ok=True)
                answer = engine.diff(path=folder, uses=False)
                judge(trial, answer, counts, f"{language} {number} {done}")
        print(language, dict(counts), flush=True)
    every = sum(sums.values(), Counter())
    right, missed, false = every["right"], every["missed"], every["false"]
    precision, recall = right / max(right + false, 1), right / max(right + missed, 1)
    print(f"{len(sums)} languages, {every['trials']} trials, {right + missed} renames and moves:")
    print(f"precision {precision:.3f}, recall {recall:.3f}; unchanged: {every['unchanged']}")


def judge(trial: Trial, answer: DiffAnswer, counts: Counter[str], what: str) -> None:
    found, reported = reported_changes(answer.files)
    moved_files = {old: new for how, old, new in trial.truth if how == "file"}
    truth = set()
    for how, old, new in trial.truth:
        name, mark, symbol = new.partition("#")
        truth.add((how, old, moved_files.get(name, name) + mark + symbol if how != "file" else new))
    touched = set(trial.touched)
    names_before = {new: old for old, new in moved_files.items()}
    for new_name in trial.touched:
        name, _, symbol = new_name.partition("#")
        touched.add(f"{moved_files.get(name, name)}#{symbol}")
        touched.add(f"{names_before.get(name, name)}#{symbol}")
    counts["trials"] += 1
    counts["right"] += len(found & truth)
    for one in truth - found:
        counts["missed"] += 1
        print("missed", what, one)
    for one in found - truth:
        counts["false"] += 1
        print("false ", what, one)
    owners = {new_name for how, _, new_name in truth if how == "renamed"}
    for one in sorted(reported):
        plain = re.sub(r"~\d+$", "", one)
        if plain not in touched and not any(plain.startswith(f"{own}.") for own in owners):
            counts["unchanged"] += 1
            print("unchanged:", what, one)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("account", "seeded"))
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--commits", type=int, default=30)
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="LANGUAGE or LANGUAGE:TRIAL")
    parser.add_argument("--keep", default="", help="a folder for the repository of a trial")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        if args.what == "account":
            account(args.repositories, args.commits, Path(home))
        else:
            seeded(args.repositories, args.trials, Path(home), args.seed, args.only, args.keep)


if __name__ == "__main__":
    sys.exit(main())
