"""An independent measure from real history: does a commit's message find the files it changed?

    python benchmarks/history.py run RESULTS.jsonl REPO... [--commits 40] [--home FOLDER]
    python benchmarks/history.py report RESULTS.jsonl
    python benchmarks/history.py worst RESULTS.jsonl [--show 15]

Takes the latest commits of each repository that have an informative message. Searches for the
message's first paragraph in the tree before the commit (by ref; nothing is checked out, and a bare
mirror works). Scores the ranks of the files that the commit changed: recall at 5, 10 and 20
results, the mean over commits. The rivals get the same trees and the same words:

- BM25: files as bags of lower-case words, k1 = 1.2, b = .75;
- BM25 parts: the same on stemmed parts of identifiers, which are codelens' own tokens;
- ripgrep: files by the number of distinct words of the message that they hold, then by matches
  (`rg -i --count-matches` per word); hidden files left out, as ripgrep does.

One rule selects the commits of all repositories. It was set before their results were seen. A
commit counts if
- it has one parent, and is among the newest 4,000;
- its subject, without issue numbers, has at least four distinct words of three letters or more
  that are not English function words, and no earlier one has the same first paragraph;
- its subject is not a merge, revert, release, version or dependency commit, not of the kinds
  `chore`, `ci`, `build`, `docs`, `style` or `test`, and not about a typo, spelling, white space,
  formatting, linting or copyright;
- it changed 1 to 5 source files, all of which existed before. Other files may change with them.
  Source is a programming language, style sheet, page or query language. It is not data (JSON,
  YAML, TOML), prose, a notebook or a build file (make, CMake, Dockerfile), and its path does not
  say test, example, documentation, benchmark, vendored or generated (`ASIDE`, a separate list, so
  that codelens' own classification does not decide what judges it).

One list of results is scored in two ways. `all files` is what a caller gets: a second place in a
file wastes its rank, and files folded behind a result (`alike`) take the ranks after it.
`source alone` removes the files that the rule above could never select from every method's list.
Commits whose message names a changed file (the stem or the whole name, as a separate word) are
also reported separately from the others.

A message may have other relevant files, and some changed files are incidental: no method can reach
a recall of 1.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import rivals
from home_settings import home_settings

from codelens.answers.reading_answers import SearchAnswer
from codelens.engine.engine import Engine
from codelens.extract.language_detection import language_by_path
from codelens.extract.language_settings import TEXT, language_info
from codelens.handles.handle_grammar import parse_handle
from codelens.paths import printed

METHODS = ("codelens", "BM25", "BM25 parts", "ripgrep")
CUTS = (5, 10, 20)
COMMITS_READ = 4000
MOST_CHANGED = 5
LEAST_WORDS = 4
LONGEST_LIST = 100
DULL = re.compile(
    r"^(merge|revert|release|bump|update dependenc|version|v?\d+\.\d+|prepare|changelog|"
    r"fixup!|squash!|wip\b|\[maven|\[release|upgrade .* to v?\d|"
    r"(chore|ci|build|docs?|style|tests?|deps)\b[^:]{0,40}:)"
    r"|\b(typos?|spelling|white ?space|lint\w*|formatting|reformat\w*|gofmt|clang-format|"
    r"copyright)\b",
    re.IGNORECASE,
)
NOISE = re.compile(
    r"\(?#\d+\)?|^(Signed-off-by|Co-authored-by|Change-Id|See|Fixes|Closes|Refs?):?.*$",
    re.MULTILINE,
)
NOT_SOURCE = frozenset(
    {TEXT, *"json yaml toml markdown rst jupyter make automake cmake dockerfile".split()}
)
ASIDE = re.compile(
    r"(^|/)(([\w-]*[-_])?tests?|testing|specs?|test-?data|e2e|__tests__|__mocks__|mocks?|fixtures|"
    r"[a-z]\w*Tests?|examples?|demos?|samples?|docs?|bench(marks?)?|vendor(ed)?|third[_-]?party|"
    r"node_modules|deps|dist|generated)/"
    r"|(^|/)(test_[^/]*|[^/]*[._-](tests?|specs?)(-d)?\.[^/]*|[^/]*(Tests?|Spec)\.\w+|conftest\.py|"
    r"tests?\.\w+|[^/]*(\.min|\.pb|_pb2|\.generated|\.g)\.\w+)$"
)


class Case(NamedTuple):
    """One commit."""

    commit: str
    parent: str
    message: str
    changed: frozenset[str]


def git(repo: Path, *args: str) -> bytes:
    command = ["git", "-C", str(repo), *args]
    return subprocess.run(command, check=True, capture_output=True).stdout


def cases(repo: Path, wanted: int) -> Iterator[Case]:
    """The latest commits that satisfy the rules, newest first."""
    log = git(repo, "log", "--no-merges", "-n", str(COMMITS_READ), "--raw", "-z", "--no-renames",
              "--abbrev=40", "--format=%x01%H%x02%P%x02%B%x03")  # fmt: skip
    seen: set[str] = set()
    for entry in log.decode("utf-8", "replace").split("\1")[1:]:
        head, _, raw = entry.partition("\3")
        commit, parents, body = head.split("\2")
        message = telling(body)
        if not message or message in seen or not parents or " " in parents:
            continue
        changed = judged(raw)
        if changed:
            seen.add(message)
            yield Case(commit, parents, message, changed)
            if len(seen) == wanted:
                return


def telling(body: str) -> str:
    """The first paragraph of a message without issue numbers; empty if it says little."""
    subject = body.strip().split("\n", 1)[0]
    if DULL.search(subject) or len(rivals.words_of(NOISE.sub("", subject))) < LEAST_WORDS:
        return ""
    return " ".join(NOISE.sub("", body.strip().split("\n\n", 1)[0]).split())


def judged(raw: str) -> frozenset[str]:
    """The changed source files, if they are few and all existed before; otherwise nothing."""
    parts = raw.strip("\0\n").split("\0")
    found: set[str] = set()
    for status, path in zip(parts[::2], parts[1::2], strict=False):
        if not is_source(path):
            continue
        if not status.strip().endswith(" M"):
            return frozenset()
        found.add(path)
    return frozenset(found) if len(found) <= MOST_CHANGED else frozenset()


def is_source(path: str) -> bool:
    name = path.encode("utf-8", "replace")
    language = language_by_path(name)
    if language is None or language in NOT_SOURCE or not language_info(language).grammar:
        return False
    return not ASIDE.search(path)


class Texts:
    """Blobs of one repository, each read and counted once."""

    def __init__(self, repo: Path) -> None:
        self._git = subprocess.Popen(
            ["git", "-C", str(repo), "cat-file", "--batch"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._repo = repo
        self._known: dict[str, rivals.Text | None] = {}

    def tree(self, commit: str) -> list[rivals.File]:
        """Path and text of each text file."""
        listed = git(self._repo, "ls-tree", "-r", "-z", commit).decode("utf-8", "replace")
        found: list[rivals.File] = []
        for row in listed.split("\0"):
            meta, _, path = row.partition("\t")
            mode, _, rest = meta.partition(" ")
            kind, _, blob = rest.partition(" ")
            if kind == "blob" and mode != "120000":
                text = self._text(blob)
                if text is not None:
                    found.append((path, text))
        return found

    def _text(self, blob: str) -> rivals.Text | None:
        if blob not in self._known:
            stdin, stdout = self._git.stdin, self._git.stdout
            assert stdin is not None and stdout is not None
            stdin.write(blob.encode() + b"\n")
            stdin.flush()
            _, *about = stdout.readline().split()
            # Mirrors may lack their largest blobs: `missing` has no size.
            if about == [b"missing"]:
                self._known[blob] = None
            else:
                self._known[blob] = rivals.text_of(stdout.read(int(about[1])))
                stdout.read(1)
        return self._known[blob]

    def close(self) -> None:
        assert self._git.stdin is not None
        self._git.stdin.close()
        self._git.wait()


def by_codelens(engine: Engine, repo: Path, case: Case) -> tuple[list[str], dict[str, float]]:
    """Paths as `flattened` returns them, and milliseconds."""
    took: dict[str, float] = {}
    started = time.perf_counter()
    engine.look(path=repo, ref=case.parent)
    took["look"] = time.perf_counter() - started
    for name in ("first", "again"):
        started = time.perf_counter()
        engine.search(case.message, path=repo, ref=case.parent)
        took[name] = time.perf_counter() - started
    answer = engine.search(case.message, path=repo, ref=case.parent, limit=LONGEST_LIST)
    return flattened(answer), {name: round(value * 1000, 1) for name, value in took.items()}


def flattened(answer: SearchAnswer) -> list[str]:
    """Paths in the order of the results; a file appears once per place.

    The files folded behind a result follow it directly and take ranks.
    """
    paths: list[str] = []
    for hit in answer.results:
        behind = [printed(parse_handle(one).path or b"") for one in hit.alike]
        paths += [hit.path, *(path for path in dict.fromkeys(behind) if path != hit.path)]
    return paths


def run(repos: list[Path], wanted: int, home: Path, results: Path, *, alone: bool) -> None:
    with Engine(home_settings(home)) as engine, results.open("w", encoding="utf-8") as out:
        for repo in repos:
            texts = Texts(repo)
            rows = [measured(engine, repo, texts, case, alone) for case in cases(repo, wanted)]
            texts.close()
            out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            out.flush()
            print(f"{name_of(repo)}: {len(rows)} commits", file=sys.stderr, flush=True)
    report(results)


def measured(engine: Engine, repo: Path, texts: Texts, case: Case, alone: bool) -> dict:
    listed, took = by_codelens(engine, repo, case)
    files = [] if alone else texts.tree(case.parent)
    found = {"codelens": listed}
    if not alone:
        found |= {
            "BM25": rivals.by_bm25(files, case.message),
            "BM25 parts": rivals.by_bm25_parts(files, case.message),
            "ripgrep": rivals.by_ripgrep(files, case.message),
        }
    return {
        "repo": name_of(repo),
        "commit": case.commit,
        "message": case.message,
        "changed": sorted(case.changed),
        "named": names_one(case.message, case.changed),
        "files": len(files),
        "took": took,
        "ranks": {method: ranks_of(paths, case.changed) for method, paths in found.items()},
        "source": {
            method: ranks_of([path for path in paths if is_source(path)], case.changed)
            for method, paths in found.items()
        },
        "first": found["codelens"][: max(CUTS)],
    }


def ranks_of(paths: list[str], changed: Iterable[str]) -> dict[str, int | None]:
    """The rank of each changed file, from 1."""
    places: dict[str, int] = {}
    for rank, path in enumerate(paths, 1):
        places.setdefault(path, rank)
    return {path: places.get(path) for path in sorted(changed)}


def names_one(message: str, changed: Iterable[str]) -> bool:
    said = {word.lower() for word in re.findall(r"[\w.-]+|\w+", message)}
    said |= {word.lower() for word in re.findall(r"\w+", message)}
    said |= {word.rstrip(".") for word in said}
    for path in changed:
        name = path.rpartition("/")[2].lower()
        if name in said or name.split(".")[0] in said:
            return True
    return False


def name_of(repo: Path) -> str:
    """The repository's name; a mirror is `owner+name/repo`."""
    folder = repo.resolve()
    name = folder.parent.name if folder.name == "repo" else folder.name
    return name.rpartition("+")[2].removesuffix(".git")


def rows_of(results: Path) -> list[dict]:
    return [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]


def recall(ranks: dict[str, int | None], cut: int) -> float:
    return sum(rank is not None and rank <= cut for rank in ranks.values()) / len(ranks)


def report(results: Path) -> None:
    """Prints the tables: by repository, and by whether the message names a changed file."""
    rows = rows_of(results)
    methods = [method for method in METHODS if method in rows[0]["ranks"]]
    for title, key in (("all files", "ranks"), ("source alone", "source")):
        heads = [f"{methods[0]} @5/10/20", *methods[1:]]
        print(f"\n| {title} | files | commits | {' | '.join(heads)} |")
        print("|---|---|---|" + "---|" * len(methods))
        by_repo: dict[str, list[dict]] = defaultdict(list)
        for row in rows:
            by_repo[row["repo"]].append(row)
        for name, own in by_repo.items():
            print(line(name, own, key))
        print(line("**all**", rows, key))
        print(line("names a changed file", [row for row in rows if row["named"]], key))
        print(line("names none", [row for row in rows if not row["named"]], key))
    for rival in methods[1:]:
        pairs = [
            (recall(row["ranks"]["codelens"], 10), recall(row["ranks"][rival], 10)) for row in rows
        ]
        better, worse = (sum(a > b for a, b in pairs), sum(a < b for a, b in pairs))
        print(f"\nat 10, codelens against {rival}: better on {better} commits, worse on {worse}")
    timing(by_repo)


def line(title: str, rows: list[dict], key: str) -> str:
    cells = [title, str(round(statistics.median(row["files"] for row in rows))) if rows else "",
             str(len(rows))]  # fmt: skip
    for method in rows[0][key] if rows else ():
        means = [
            sum(recall(row[key][method], cut) for row in rows) / max(1, len(rows)) for cut in CUTS
        ]
        cells.append(" / ".join(f"{mean:.3f}" for mean in means))
    return "| " + " | ".join(cells) + " |"


def timing(by_repo: dict[str, list[dict]]) -> None:
    print("\n| ms, wall | first look | next looks, p50 / max | first query p50 | again p50 |")
    print("|---|---|---|---|---|")
    for name, rows in by_repo.items():
        first, *rest = [row["took"] for row in rows]
        rest = rest or [first]
        middle = {key: f"{statistics.median(one[key] for one in rest):,.0f}" for key in first}
        longest = f"{max(one['look'] for one in rest):,.0f}"
        print(f"| {name} | {first['look']:,.0f} | {middle['look']} / {longest} | "
              f"{middle['first']} | {middle['again']} |")  # fmt: skip


def worst(results: Path, shown: int) -> None:
    """Prints the commits on which codelens loses most, by the first changed file's rank."""

    def first(row: dict, method: str) -> int:
        return min((rank for rank in row["ranks"][method].values() if rank), default=LONGEST_LIST)

    def lost(row: dict) -> int:
        return first(row, "codelens") - min(first(row, method) for method in METHODS[1:])

    for row in sorted(rows_of(results), key=lambda row: (-lost(row), row["commit"]))[:shown]:
        ranks = ", ".join(f"{method} {first(row, method)}" for method in METHODS)
        print(f"{row['repo']} {row['commit'][:10]} {row['message'][:160]!r}\n  {ranks}")
        print(f"  changed {row['changed']}\n  first {row['first'][:6]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run")
    one.add_argument("results", type=Path)
    one.add_argument("repos", nargs="+", type=Path)
    one.add_argument("--commits", type=int, default=40)
    one.add_argument("--home", type=Path, default=Path("/tmp/codelens-history"))
    one.add_argument("--alone", action="store_true", help="codelens without its rivals")
    for name in ("report", "worst"):
        commands.add_parser(name).add_argument("results", type=Path)
    commands.choices["worst"].add_argument("--show", type=int, default=15)
    args = parser.parse_args()
    if args.command == "run":
        run(args.repos, args.commits, args.home, args.results, alone=args.alone)
    elif args.command == "report":
        report(args.results)
    else:
        worst(args.results, args.show)


if __name__ == "__main__":
    main()
