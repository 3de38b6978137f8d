#!/usr/bin/env python3
"""Records what codelens answers, on all its faces, and compares two recordings.

    python benchmarks/recording.py questions CODELENS REPOSITORY... > QUESTIONS.jsonl
    python benchmarks/recording.py record CODELENS QUESTIONS.jsonl > ANSWERS.jsonl
    python benchmarks/recording.py compare BEFORE.jsonl AFTER.jsonl

`CODELENS` is the executable of an installed version, so that a version before a change and one
after it can be asked the same. Each question (search, expand, outline, related, impact, map,
status) is asked as text on the command line, as `--json`, and over MCP. Times, and how many files
a look checked, are left out of the comparison; all else counts to the byte.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

COUNTS = {"name": 12, "words": 10, "expand": 12, "outline": 8, "related": 10, "impact": 8}
VARIABLE = (
    (re.compile(r" · [\d.,]+ m?s\b"), ""),
    (re.compile(r"[\d,]+ files? checked(, [\d,]+ re-indexed)?"), "files checked"),
    (re.compile(r'"(elapsed_ms|checked|indexed)": ?[\d.]+'), r'"\1": 0'),
    (re.compile(r'"(last_look|created|accessed|age_s|index_bytes|bytes)": ?[\d.]+'), r'"\1": 0'),
    (re.compile(r"\b[\d.]+ [kMG]B\b"), "SIZE"),
    (re.compile(r"[^ \"]+/indexes/"), "HOME/indexes/"),
)
MCP = {
    "search": "cl_search",
    "expand": "cl_expand",
    "outline": "cl_outline",
    "related": "cl_related",
    "impact": "cl_impact",
    "map": "cl_map",
    "status": "cl_current",
}


def main() -> None:
    """Run one of the three steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(dest="step", required=True)
    ask = steps.add_parser("questions")
    ask.add_argument("codelens", type=Path)
    ask.add_argument("repositories", type=Path, nargs="+")
    record = steps.add_parser("record")
    record.add_argument("codelens", type=Path)
    record.add_argument("questions", type=Path)
    compare = steps.add_parser("compare")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    compare.add_argument("--show", type=int, default=20, help="differences to print")
    args = parser.parse_args()
    if args.step == "compare":
        sys.exit(_compare(_lines(args.before), _lines(args.after), args.show))
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "CODELENS_HOME": home, "PYTHONUTF8": "1"}
        if args.step == "questions":
            found = [
                one
                for repository in args.repositories
                for one in _questions(args.codelens, repository.resolve(), environment)
            ]
        else:
            found = _answers(args.codelens, _lines(args.questions), environment)
        for one in found:
            print(json.dumps(one, ensure_ascii=False))


def _lines(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _questions(codelens: Path, repository: Path, environment: dict) -> Iterator[dict]:
    """The same questions for the same tree: definitions are chosen by a hash of their handles."""
    command = [codelens, "-C", repository, "export", "symbols"]
    told = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    rows = [json.loads(line) for line in told.stdout.splitlines()]
    rows = [
        {**one, "handle": f"{one['path']}#{one['qualified_name']}"}
        for one in rows
        if one["kind"] not in {"heading", "key"} and not re.search("[#:%]", one["path"])
    ]
    rows.sort(key=lambda one: hashlib.sha256(f"{one['handle']} {one['line']}".encode()).digest())
    paths = sorted({one["path"] for one in rows}, key=lambda p: hashlib.sha256(p.encode()).digest())
    taken = iter(rows)

    def some(kind: str) -> list[dict]:
        return [next(taken) for _ in range(COUNTS[kind])]

    where = {"repository": str(repository)}
    for one in some("name"):
        yield {**where, "tool": "search", "argument": one["name"]}
    for one in some("words"):
        words = re.sub(r"[_\W]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", one["qualified_name"]))
        yield {**where, "tool": "search", "argument": f"how does {words.lower()} work"}
    for tool in ("expand", "related", "impact"):
        for one in some(tool):
            yield {**where, "tool": tool, "argument": one["handle"]}
    for path in [".", *paths[: COUNTS["outline"] - 1]]:
        yield {**where, "tool": "outline", "argument": path}
    for query in ("", "error handling"):
        yield {**where, "tool": "map", "argument": query}
    yield {**where, "tool": "status", "argument": ""}


def _answers(codelens: Path, questions: list[dict], environment: dict) -> Iterator[dict]:
    """Each question on three faces; each repository is indexed first, so that nothing is
    partial."""
    for repository in sorted({one["repository"] for one in questions}):
        subprocess.run([codelens, "-C", repository, "index"], env=environment, check=True,
                       capture_output=True)  # fmt: skip
        server = Server(codelens, Path(repository), environment)
        for one in (one for one in questions if one["repository"] == repository):
            for face in ("text", "json"):
                yield {**one, "face": face, "answer": _typed(codelens, one, face, environment)}
            yield {**one, "face": "mcp", "answer": server.ask(one)}
        server.close()


def _typed(codelens: Path, one: dict, face: str, environment: dict) -> str:
    command = [codelens, "-C", one["repository"], one["tool"]]
    if one["argument"]:
        command += ["--query", one["argument"]] if one["tool"] == "map" else [one["argument"]]
    command += ["--json"] if face == "json" else []
    done = subprocess.run(
        [str(word) for word in command], env=environment, capture_output=True, text=True
    )
    return f"{done.returncode}\n{done.stdout}\n{done.stderr}"


class Server:
    """One `codelens serve`, asked line by line."""

    def __init__(self, codelens: Path, repository: Path, environment: dict) -> None:
        self._process = subprocess.Popen(
            [codelens, "serve"], cwd=repository, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
            env={**environment, "CODELENS_TOOLS": "all", "CODELENS_BUDGET_MS": "60000"},
        )  # fmt: skip
        self._number = 0
        about = {"name": "recording", "version": "1"}
        started = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
        self._request("initialize", started)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _request(self, method: str, params: dict) -> dict:
        assert self._process.stdout is not None
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._number and "method" not in answer:
                return answer
        raise RuntimeError(f"the server ended before it answered {method}")

    def ask(self, one: dict) -> str:
        """The text of the tool's answer."""
        name = {
            "search": "query", "expand": "handles", "outline": "target", "related": "target",
            "impact": "targets", "map": "query",
        }.get(one["tool"])  # fmt: skip
        given = [one["argument"]] if name in {"handles", "targets"} else one["argument"]
        arguments = {name: given} if name and one["argument"] else {}
        answer = self._request("tools/call", {"name": MCP[one["tool"]], "arguments": arguments})
        result = answer.get("result", answer)
        return json.dumps(result, ensure_ascii=False, sort_keys=True)

    def close(self) -> None:
        """End the server."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)


def _plain(answer: str) -> str:
    for pattern, instead in VARIABLE:
        answer = pattern.sub(instead, answer)
    return answer


def _compare(before: list[dict], after: list[dict], show: int) -> int:
    """Print what differs; 1 if anything does."""

    def key(one: dict) -> tuple[str, ...]:
        return (one["repository"], one["tool"], one["argument"], one["face"])

    old = {key(one): one["answer"] for one in before}
    new = {key(one): one["answer"] for one in after}
    different = [one for one in old if one in new and _plain(old[one]) != _plain(new[one])]
    missing = len(old.keys() ^ new.keys())
    for one in different[:show]:
        print("==", *one)
        lines = difflib.unified_diff(
            _plain(old[one]).splitlines(), _plain(new[one]).splitlines(), lineterm="", n=0
        )
        print("\n".join(line[:300] for line in lines if not line.startswith(("---", "+++", "@@"))))
    print(
        f"{len(old.keys() & new.keys())} answers compared, {len(different)} differ, "
        f"{missing} only on one side"
    )
    return 1 if different or missing else 0


if __name__ == "__main__":
    main()
