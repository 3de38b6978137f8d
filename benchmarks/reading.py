"""Measures what an agent must read until the answer is in its context, in tokens.

    python benchmarks/retrieval.py prepare MIRROR CHECKOUTS    # once: scratch repositories
    python benchmarks/reading.py run CHECKOUTS RESULTS.jsonl [--home FOLDER] [--rg PATH]
    python benchmarks/reading.py report RESULTS.jsonl

Compares five ways to answer the 500 questions of `retrieval.py` over 25 repositories. Each way
pays for what its tools print, by the same estimate, `codelens.render.text_pieces.tokens_of` (a
token for four bytes). Commands are free. Lines are shown one after the other until the budget is
spent, so the last file or excerpt counts up to the last line shown.

- codelens: the text of `cl_search` as an agent gets it (concise, ten results, receipt and notes
  included), then one `cl_expand` of the results' handles in their order, heads included. Only
  printed handles are read, and not the further places of a file (`also`). If there is budget left
  after the last one, `cl_search` with a higher limit, paid for again, and the new results.
- grep, read: files by the number of distinct words of the question that they hold, then by
  matches (`rg -i --count-matches` per word, which takes more than one call). A question of one
  identifier is grepped as an agent would: files with a line that looks like its definition in
  any language first. The first ten are listed (`path:matches`) and read whole in that order,
  then the next ten. Line numbers are free.
- grep -C3: the same listing, then `rg -n -i -C3` with the words (for an identifier its name as a
  whole word, case-sensitive) over the listed files in that order, each match with three lines of
  context.
- BM25, read: files by BM25 over the stemmed parts of identifiers, ten listed, then read whole.
- BM25 -C3: that listing, then `rg -n -i -C3` as above.

A target is found if a line of its file was shown; if the label has lines, one of these. Nearly all
labels are whole files, which favours tools that read whole files: the first line of a file of 5,000
is enough. So questions for a symbol also have stricter rows (`symbol, its line`): a line of the
target's file that has the name as a whole word was shown. Questions and labels are generated, and
are sentences rather than what a person would grep for.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import rivals
from retrieval import RETRIEVAL, full_path, questions

from codelens.answers.reading_answers import SearchAnswer
from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.render.text_pieces import tokens_of
from codelens.serve import answer_shapes
from codelens.types import Receipt

BUDGETS = (1000, 2000, 4000, 8000)
PAGE = 10
PAGES = 5
CONTEXT = "3"
SEARCH_TOKENS = 4000
"""The default token limit of `cl_search`."""
MOST_TOKENS = 1_000_000
_DEFINING = (
    "class|struct|enum|interface|trait|object|protocol|extension|type|typealias|data|newtype|"
    "instance|def|defp|defmodule|defmacro|fn|func|fun|function|val|var|let|const|module|"
    "namespace|record|union|macro_rules!|define"
)


class Shown(NamedTuple):
    """A line that a tool printed; `path` is empty if it is not a line of a file."""

    text: str
    path: str = ""
    line: int = 0


class Checkout:
    """One repository, as the tools see it."""

    def __init__(self, folder: Path, rg: str) -> None:
        self.folder = folder
        self._rg = rg
        listed = subprocess.run(
            ["git", "-C", str(folder), "ls-files", "-z"], check=True, capture_output=True
        ).stdout.decode("utf-8", "replace")
        self.files: list[rivals.File] = []
        for path in sorted(filter(None, listed.split("\0"))):
            if (folder / path).is_file() and not (folder / path).is_symlink():
                text = rivals.text_of((folder / path).read_bytes())
                if text is not None:
                    self.files.append((path, text))

    def rg(self, *args: str) -> str:
        done = subprocess.run(
            [self._rg, "--no-config", "--color=never", *args], cwd=self.folder, capture_output=True
        )
        if done.returncode > 1:
            raise RuntimeError(done.stderr.decode())
        return done.stdout.decode("utf-8", "replace")

    def lines(self, path: str) -> Iterator[Shown]:
        text = (self.folder / path).read_bytes().decode("utf-8", "replace")
        for number, line in enumerate(text.splitlines(), 1):
            yield Shown(line, path, number)


def words_of(query: str) -> list[str]:
    """The words to grep for; never empty."""
    return rivals.words_of(query) or re.findall(r"\w+", query.lower()) or [query]


def identifier(query: str) -> str:
    """The name that a query of one identifier asks for; empty for any other query."""
    names = re.findall(r"\w+", query)
    return names[-1] if names and not re.search(r"\s", query.strip()) else ""


def counted(checkout: Checkout, query: str) -> list[tuple[str, int]]:
    """Files and their matches in the order of `rivals.by_matches`, definitions first."""
    words = words_of(query)
    counts: dict[str, list[int]] = {}
    for at, word in enumerate(words):
        found = checkout.rg("-i", "-F", "--count-matches", "--with-filename", "-0", "-e", word, ".")
        for row in found.splitlines():
            path, _, count = row.removeprefix("./").partition("\0")
            counts.setdefault(path, [0] * len(words))[at] = int(count)
    ranked = rivals.by_matches(counts)
    name = identifier(query)
    if name:
        escaped = re.escape(name)
        pattern = rf"\b(?:{_DEFINING})\s+(?:[\w.:<>]*[.:])?{escaped}\b|^\s*{escaped}\s*(?:::|=)"
        defining = checkout.rg("-l", "-0", "-e", pattern, ".").split("\0")
        first = {path.removeprefix("./") for path in defining}
        ranked.sort(key=lambda path: path not in first)
    return [(path, sum(counts[path])) for path in ranked]


def by_grep(checkout: Checkout, query: str) -> Iterator[list[tuple[str, str]]]:
    """Pages of paths with the lines that list them."""
    rows = [(path, f"{path}:{count}") for path, count in counted(checkout, query)]
    return paged(rows)


def by_bm25(checkout: Checkout, query: str) -> Iterator[list[tuple[str, str]]]:
    ranked = rivals.by_bm25_parts(checkout.files, query)
    return paged([(path, path) for path in ranked])


def paged(rows: Sequence[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    for start in range(0, min(len(rows), PAGE * PAGES), PAGE):
        yield list(rows[start : start + PAGE])


Ranking = Callable[[Checkout, str], Iterator[list[tuple[str, str]]]]


def whole_files(checkout: Checkout, query: str, ranking: Ranking) -> Iterator[Shown]:
    for page in ranking(checkout, query):
        yield from (Shown(listed) for _, listed in page)
        for path, _ in page:
            yield from checkout.lines(path)


def matches(checkout: Checkout, query: str, ranking: Ranking) -> Iterator[Shown]:
    name = identifier(query)
    if name:
        asked = ["-w", "-F", "-e", name]
    else:
        asked = ["-i", "-F", *(part for word in words_of(query) for part in ("-e", word))]
    for page in ranking(checkout, query):
        yield from (Shown(listed) for _, listed in page)
        # One thread: files in the order of the arguments.
        printed = checkout.rg(
            "-n", "-C", CONTEXT, "-j1", "--heading", "-0", *asked, "--", *(path for path, _ in page)
        )
        path = ""
        for row in printed.split("\n"):
            if "\0" in row:
                path = row.partition("\0")[0]
            number = re.match(r"(\d+)[:-]", row)
            yield Shown(row, path, int(number[1])) if number else Shown(row)


def codelens(engine: Engine, folder: Path, query: str) -> Iterator[Shown]:
    seen: set[str] = set()
    for page in range(1, PAGES + 1):
        answer = engine.search(query, path=folder, limit=PAGE * page)
        said = printed_by_search(answer, brief=page == 1)
        yield from (Shown(row) for row in said.split("\n"))
        fresh = [
            hit.handle for hit in answer.results if hit.handle in said and hit.handle not in seen
        ]
        if not fresh:
            return
        seen.update(fresh)
        yield from expanded(engine, folder, fresh)


def printed_by_search(answer: SearchAnswer, *, brief: bool) -> str:
    """The tool's text; `brief` unchanged unless more results than the default are requested."""
    steadied = replace(answer, receipt=steady(answer.receipt))
    return answer_shapes.search(steadied, "concise", SEARCH_TOKENS, brief=brief)


def expanded(engine: Engine, folder: Path, handles: Sequence[str]) -> Iterator[Shown]:
    """The excerpts in order, each after a line that stands for the text printed around it."""
    answer = engine.expand(handles, path=folder, max_lines=MOST_TOKENS)
    answer = replace(answer, receipt=steady(answer.receipt))

    def printed(*items: answer_shapes.Excerpt) -> int:
        return len(
            answer_shapes.expand(replace(answer, items=items), "concise", MOST_TOKENS).encode()
        )

    head = printed()
    yield Shown("-" * head)
    for one in answer.items:
        text = one.text.removesuffix("\n")
        around = printed(one) - head - len(text.encode("utf-8", "replace")) - 2
        yield Shown("-" * max(0, around))
        for number, line in enumerate(text.split("\n"), one.start_line):
            yield Shown(line, one.path, number)


def steady(receipt: Receipt) -> Receipt:
    """The text without the parts that differ between runs."""
    return replace(receipt, elapsed_ms=10.0, indexed=0)


class Target(NamedTuple):
    path: str
    lines: tuple[int, int] | None
    name: str
    """A name that the line must contain, for the stricter rule on symbols."""


def found(shown: Iterator[Shown], targets: Sequence[Target]) -> list[list[int | None]]:
    """Tokens read until each target was seen, by the plain and by the stricter rule.

    None: not within the largest budget.
    """
    seen: list[list[int | None]] = [[None, None] for _ in targets]
    names = [re.compile(rf"\b{re.escape(one.name)}\b") for one in targets]
    size = 0
    for one in shown:
        size += len(one.text.encode("utf-8", "replace")) + 1
        tokens = -(-size // 4)
        if tokens > BUDGETS[-1]:
            break
        for at, target in enumerate(targets):
            if one.path != target.path:
                continue
            if target.lines and not target.lines[0] <= one.line <= target.lines[1]:
                continue
            if seen[at][0] is None:
                seen[at][0] = tokens
            if seen[at][1] is None and names[at].search(one.text):
                seen[at][1] = tokens
    return seen


POLICIES: dict[str, Callable[[Engine, Checkout, str], Iterator[Shown]]] = {
    "codelens": lambda engine, checkout, query: codelens(engine, checkout.folder, query),
    "grep, read": lambda _, checkout, query: whole_files(checkout, query, by_grep),
    "grep -C3": lambda _, checkout, query: matches(checkout, query, by_grep),
    "BM25, read": lambda _, checkout, query: whole_files(checkout, query, by_bm25),
    "BM25 -C3": lambda _, checkout, query: matches(checkout, query, by_bm25),
}


def run(checkouts: Path, results: Path, home: Path, rg: str) -> None:
    roots = {one["name"]: one for one in json.loads((RETRIEVAL / "repos.json").read_text())}
    checkouts_by_name: dict[str, Checkout] = {}
    with Engine(Settings(home=home)) as engine, results.open("w", encoding="utf-8") as out:
        for one in questions():
            folder = checkouts / one["repo"]
            if one["repo"] not in checkouts_by_name:
                checkouts_by_name = {one["repo"]: Checkout(folder, rg)}
                engine.look(path=folder)
                print(one["repo"], file=sys.stderr, flush=True)
            checkout = checkouts_by_name[one["repo"]]
            root = roots[one["repo"]].get("benchmark_root") or ""
            name = identifier(one["query"]) if one["category"] == "symbol" else ""
            targets = [
                Target(
                    full_path(folder, root, target["path"]),
                    (int(target["start_line"]), int(target["end_line"]))
                    if "start_line" in target
                    else None,
                    name,
                )
                for target in one["relevant"]
            ]
            row = {key: one[key] for key in ("repo", "query", "category")}
            answer = engine.search(one["query"], path=folder)
            row["answer"] = tokens_of(printed_by_search(answer, brief=True))
            row["tokens"] = {
                policy: found(way(engine, checkout, one["query"]), targets)
                for policy, way in POLICIES.items()
            }
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    report(results)


def report(results: Path) -> None:
    rows = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    groups = {"**all**": (rows, 0)}
    for category in ("semantic", "architecture", "symbol"):
        groups[category] = ([row for row in rows if row["category"] == category], 0)
    groups["symbol, its line"] = (groups["symbol"][0], 1)
    budgets = " | ".join(f"{budget // 1000}k" for budget in BUDGETS)
    print(f"| questions | n | policy | {budgets} | tokens to the first answer, p50 |")
    print("|---|---|---|" + "---|" * len(BUDGETS) + "---|")
    for title, (own, rule) in groups.items():
        for policy in POLICIES:
            print(line(title, own, policy, rule))
    print(f"\ncl_search: {statistics.mean(row['answer'] for row in rows):.0f} tokens an answer")


def line(title: str, rows: list[dict], policy: str, rule: int) -> str:
    seen = [[one[rule] for one in row["tokens"][policy]] for row in rows]
    shares = [
        statistics.mean(
            sum(one is not None and one <= budget for one in own) / len(own) for own in seen
        )
        for budget in BUDGETS
    ]
    first = statistics.median(
        min((one for one in own if one is not None), default=BUDGETS[-1] + 1) for own in seen
    )
    until = f"{first:,.0f}" if first <= BUDGETS[-1] else f"over {BUDGETS[-1]:,}"
    cells = [title, str(len(rows)), policy, *(f"{share:.3f}" for share in shares), until]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run")
    one.add_argument("checkouts", type=Path)
    one.add_argument("results", type=Path)
    one.add_argument("--home", type=Path, default=Path("/tmp/codelens-retrieval"))
    one.add_argument("--rg", default="rg", help="the ripgrep to call")
    commands.add_parser("report").add_argument("results", type=Path)
    args = parser.parse_args()
    if args.command == "run":
        run(args.checkouts.resolve(), args.results, args.home, args.rg)
    else:
        report(args.results)


if __name__ == "__main__":
    main()
