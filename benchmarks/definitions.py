"""Does search find the definition itself? Questions are generated from real repositories.

    python benchmarks/definitions.py MIRROR [--each 15] [--repo OWNER/NAME ...] [--home FOLDER]
    python benchmarks/definitions.py MIRROR --judged benchmarks/judged/questions.jsonl

`MIRROR` has a folder `owner+name/repo` for each repository, which may be bare. A fixed draw picks
definitions from the newest tree of each: functions, methods and types of five lines or more in
production code whose doc begins with a sentence of six words or more, at most two per file. The
question is that sentence without the words of the name; questions of fewer than four words are
dropped. A doc that two definitions share identifies neither, so both are left out.

The repositories are two halves of five, reported apart, so that a change can be chosen on one and
judged by the other. `--older` takes those on which the ranking of definitions was developed.

Counted: the definition as the first result, among the first three and ten, the same including
what results name in `also`, and its file. The doc is part of the searched text, so this measures
which definition of a file is shown; `history.py` and `retrieval.py` measure whether files are
found.

`--judged` asks written questions instead, each with the definitions that answer it
(`benchmarks/judged/README.md`).
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import re
import time
from pathlib import Path
from typing import NamedTuple

from home_settings import home_settings

from codelens.engine.current_view import ViewRequest
from codelens.engine.engine import Engine
from codelens.extract.tokenizer import WORD, terms_of_word

KINDS = frozenset("function method class struct interface trait enum".split())
FIRST_HALF = (
    "jhy/jsoup", "honojs/hono", "pocketbase/pocketbase", "tmux/tmux", "Textualize/rich",
)  # fmt: skip
SECOND_HALF = (
    "sebastianbergmann/phpunit", "lostisland/faraday", "astral-sh/uv", "wagtail/wagtail",
    "mockk/mockk",
)  # fmt: skip
OLDER = (
    "psf/black", "pallets/werkzeug", "clap-rs/clap", "square/moshi", "twigphp/Twig",
    "gabime/spdlog", "sindresorhus/got", "FluentValidation/FluentValidation", "square/retrofit",
    "rust-lang/regex", "google/leveldb",
)  # fmt: skip
ASIDE = re.compile(
    r"(^|/)([\w.-]*tests?|testing|specs?|examples?|docs?|bench\w*|vendor|scripts?)/|[._-]?tests?\.|"
    r"(Tests?|Spec)\.\w+$|_test\.",
    re.IGNORECASE,
)
NOWHERE = 1000
LONGEST_DOC = 40
SENTENCE = re.compile(r"(.{20,300}?)(?:[.!?](?:\s|$)|$)", re.DOTALL)


class Pair(NamedTuple):
    """A question and its answer."""

    repo: str
    question: str
    path: str
    start_line: int
    end_line: int


def pairs(engine: Engine, folder: Path, repo: str, each: int) -> list[Pair]:
    with engine.pool.view(ViewRequest(folder, "HEAD")) as view, view.snapshot.db.read():
        every = [file for file in view.snapshot.files if file.content is not None]
        symbols = view.snapshot.symbols({file.content for file in every})
    rows = [
        (file.path.decode("utf-8", "replace"), one)
        for file in sorted(every, key=lambda file: file.path)
        for one in symbols.get(file.content, ())
        if one.kind in KINDS and one.doc and one.end_line - one.start_line >= 4
    ]
    found, seen = [], collections.Counter()
    for path, one in rows:
        question = asked(one.doc, one.name)
        if question and not ASIDE.search(path):
            seen[question] += 1
            found.append(Pair(repo, question, path, one.start_line, one.end_line))
    found = [one for one in found if seen[one.question] == 1]
    random.Random(7).shuffle(found)
    questions, files = [], collections.Counter()
    for one in found:
        files[one.path] += 1
        if files[one.path] <= 2:
            questions.append(one)
    return questions[:each]


def asked(doc: str, name: str) -> str:
    match = SENTENCE.match(" ".join(doc.split()))
    if match is None or len(match[1].split()) < 6 or match[1].startswith(("@", "\\")):
        return ""
    own = set(terms_of_word(name))
    words = [
        word
        for word in match[1].split()
        if not own & {term for part in WORD.findall(word) for term in terms_of_word(part)}
    ]
    return " ".join(words) if len(words) >= 4 else ""


def judged_ranks(engine: Engine, mirror: Path, questions: Path) -> dict[str, list[Ranks]]:
    """Repository -> the positions of the first answer to each of its written questions."""
    table: dict[str, list[Ranks]] = {}
    for line in questions.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        folder = mirror / row["repo"].replace("/", "+") / "repo"
        if not folder.exists():
            continue
        answer = engine.search(row["question"], path=folder, ref=row["commit"])
        ranks = Ranks()
        for rank, hit in enumerate(answer.results, 1):
            if answers(row["answers"], hit.handle):
                ranks = ranks._replace(shown=min(ranks.shown, rank))
            if any(answers(row["answers"], handle) for handle in (hit.handle, *hit.also)):
                ranks = ranks._replace(named=min(ranks.named, rank))
        table.setdefault(row["repo"], []).append(ranks)
    table["all"] = [ranks for rows in list(table.values()) for ranks in rows]
    return table


def answers(names: list[str], handle: str) -> bool:
    """Whether a handle stands for one of some qualified names."""
    symbol = handle.partition("#")[2].partition("~")[0]
    return any(symbol == name or symbol.endswith("." + name) for name in names)


class Ranks(NamedTuple):
    """Positions among the results; 1000 if not found."""

    shown: int = NOWHERE
    """Position of the result that is the definition."""
    named: int = NOWHERE
    """Position of the result that is the definition or names it in `also`."""
    file: int = NOWHERE


def ranks_of(engine: Engine, folder: Path, pair: Pair) -> Ranks:
    """The positions of the definition and its file."""
    answer = engine.search(pair.question, path=folder, ref="HEAD")
    ranks = Ranks()
    for rank, hit in enumerate(answer.results, 1):
        if hit.path == pair.path:
            ranks = ranks._replace(file=min(ranks.file, rank))
        if is_it(pair, hit.path, hit.start_line, hit.end_line):
            ranks = ranks._replace(shown=min(ranks.shown, rank), named=min(ranks.named, rank))
        for handle in hit.also:
            read = engine.expand([handle], path=folder, ref="HEAD").items[0]
            if names_it(pair, read.path, read.start_line, read.end_line):
                ranks = ranks._replace(named=min(ranks.named, rank))
    return ranks


def is_it(pair: Pair, path: str, start: int, end: int) -> bool:
    inside = start <= pair.start_line + 1 and end >= min(pair.end_line, pair.start_line + 40)
    return path == pair.path and inside and abs(start - pair.start_line) <= 3


def names_it(pair: Pair, path: str, start: int, end: int) -> bool:
    """Whether a handle stands for the definition; what it expands to begins with the doc."""
    above = 0 <= pair.start_line - start <= LONGEST_DOC
    return path == pair.path and above and abs(end - pair.end_line) <= 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("mirror", type=Path)
    parser.add_argument("--each", type=int, default=15)
    parser.add_argument("--repo", action="append", default=[])
    parser.add_argument("--older", action="store_true")
    parser.add_argument("--judged", type=Path)
    parser.add_argument("--home", type=Path, default=Path("/tmp/codelens-definitions"))
    args = parser.parse_args()
    table: dict[str, list[Ranks]] = {}
    spent = []
    with Engine(home_settings(args.home)) as engine:
        if args.judged:
            print_table(judged_ranks(engine, args.mirror, args.judged), files=False)
            return
        for repo in args.repo or (OLDER if args.older else FIRST_HALF + SECOND_HALF):
            folder = args.mirror / repo.replace("/", "+") / "repo"
            if not folder.exists():
                continue
            for one in pairs(engine, folder, repo, args.each):
                started = time.process_time()
                table.setdefault(repo, []).append(ranks_of(engine, folder, one))
                spent.append(time.process_time() - started)
    for name, repos in (
        ("first half", FIRST_HALF),
        ("second half", SECOND_HALF),
        ("all", tuple(table)),
    ):
        rows = [one for repo in repos for one in table.get(repo, ())]
        if rows:
            table[name] = rows
    print_table(table)
    spent.sort()
    print(f"CPU a question: p50 {spent[len(spent) // 2] * 1000:.0f} ms, "
          f"p95 {spent[int(len(spent) * 0.95)] * 1000:.0f} ms")  # fmt: skip


def print_table(table: dict[str, list[Ranks]], *, files: bool = True) -> None:
    columns = "repository | questions | first | in 3 | in 10 | named in 3 | in 10"
    columns += " | file in 3 | in 10" if files else ""
    print(f"| {columns} |\n|" + "---|" * (columns.count("|") + 1))
    for repo, rows in table.items():
        cells = [sum(row.shown <= cut for row in rows) / len(rows) for cut in (1, 3, 10)]
        cells += [sum(row.named <= cut for row in rows) / len(rows) for cut in (3, 10)]
        if files:
            cells += [sum(row.file <= cut for row in rows) / len(rows) for cut in (3, 10)]
        print(f"| {repo} | {len(rows)} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |")


if __name__ == "__main__":
    main()
