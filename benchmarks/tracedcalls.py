#!/usr/bin/env python3
"""Compares the calls that a Ruby or Python program really makes with the edges of `export edges`.

    python benchmarks/tracedcalls.py CHECKOUT -- ruby -Ilib -Itest -e 'Dir["test/..."].each { ... }'
    python benchmarks/tracedcalls.py CHECKOUT -- python -m pytest -q

The command runs in the checkout with a tracer (`traced_calls.rb`, `traced_calls_python.py`); its
tests should call most of the code. A call counts once for each pair of definitions. Calls are
classified:

- `named`: the name of the method called (`new` for `initialize`, the class for `__init__`, or
  `super`) is written in the definition that calls. Others (`map(&:name)`, `to_s` of an
  interpolation, a block called by another method) are excluded and counted.
- `protocol`: excluded calls to methods of Python's protocols: `with a` calls `a.__enter__`.
- `one`: named calls for which all calls by that name in this definition reach one definition. The
  others (`app.call(env)` of a middleware) are `several`: the target is decided at run time.

Recall is the share that the edges have; `or possible` includes possible uses (those of
`export edges --possible`); `or listed` also counts calls in a line that `references` of the method
called lists. Precision is the share of codelens's certain calls that were observed,
of those in a definition that was observed to call something by that name. Edges that did not run
therefore count as wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from codelens.engine.engine import Engine
from codelens.extract.language_detection import language_of

TRACER = Path(__file__).with_name("traced_calls.rb")
PYTHON_TRACER = Path(__file__).with_name("traced_calls_python.py")

Place = tuple[str, int]
"""A file and the line of a definition; line 0 is the file itself."""


@dataclass
class Traced:
    """The definitions of files, and the observed calls with their names."""

    definitions: dict[str, list[tuple[str, int, int, str, int]]] = field(default_factory=dict)
    """Kind, first and last line, name, and line of the name, after the decorators."""
    calls: dict[tuple[Place, str], set[Place]] = field(default_factory=lambda: defaultdict(set))
    same: dict[Place, set[Place]] = field(default_factory=lambda: defaultdict(set))
    aside: set[tuple[Place, Place]] = field(default_factory=set)
    protocol: set[tuple[Place, Place]] = field(default_factory=set)

    def around(self, path: str, line: int) -> list[tuple[str, int, int, str, int]]:
        """Definitions that contain a line, the outermost first."""
        rows = self.definitions.get(path, [])
        return sorted((row for row in rows if row[1] <= line <= row[2]), key=lambda row: row[1])


def traced(checkout: Path, command: list[str]) -> Traced:
    """Runs the command under the tracer."""
    trace = Traced()
    with tempfile.TemporaryDirectory() as folder:
        options = f"-r{TRACER} {os.environ.get('RUBYOPT', '')}"
        shutil.copy(PYTHON_TRACER, f"{folder}/sitecustomize.py")
        env = {**os.environ, "RUBYOPT": options, "PYTHONPATH": folder, "TRACE_ROOT": str(checkout),
               "TRACE_OUT": f"{folder}/calls"}  # fmt: skip
        subprocess.run(command, cwd=checkout, env=env, check=False, stdout=subprocess.DEVNULL)
        rows = [json.loads(line) for file in sorted(Path(folder).glob("calls.*"))
                for line in file.read_text(encoding="utf-8").splitlines()]  # fmt: skip
    for row in rows:
        if "file" in row:
            trace.definitions[row["file"]] = [(*one, one[1])[:5] for one in row["definitions"]]
    sources: dict[str, list[str]] = {}
    for row in rows:
        if "call" in row:
            _take(trace, checkout, sources, row["call"])
    return trace


def _take(trace: Traced, checkout: Path, sources: dict[str, list[str]], call: list[str]) -> None:
    path, line, called_path, called_line, name, constructed = call
    holders = trace.around(called_path, int(called_line))
    if not any(row[4] == int(called_line) and row[3] for row in holders):
        return  # `attr_reader`, `define_method`: no separate definition
    outer = trace.around(path, int(line))
    around = [row for row in outer if row[3]]
    # Outside methods: the enclosing type, or the file.
    source = (path, outer[-1][4] if outer else 0)
    called = (called_path, int(called_line))
    if path not in sources:
        sources[path] = (checkout / path).read_text(encoding="utf-8", errors="replace").split("\n")
    text = sources[path]
    lines = text[around[-1][1] - 1 : around[-1][2]] if around else [text[int(line) - 1]]
    written = {"initialize": ["new", "super"]}.get(name, [name.rstrip("="), "super"])
    if constructed and name != "initialize":
        written += ["__init__", "cls"]
    # The first line of a called method contains its own name.
    body = "\n".join(lines if source != called else lines[1 + source[1] - around[-1][1] :])
    words = set(re.findall(r"\w+[?!]?", body))
    if not words & set(written):
        aside = trace.protocol if re.fullmatch(r"__\w+__", name) else trace.aside
        aside.add((source, called))
        return
    trace.calls[source, name].add(called)
    if constructed:
        known, _, number = constructed.rpartition(":")
        trace.same[called].add((known, int(number)))
    for row in holders:
        if (constructed or name == "initialize") and row[0] == "CLASS":
            trace.same[called].add((called_path, row[4]))


Calls = dict[Place, dict[str, set[Place]]]
"""Calls by caller, then by name."""


def reported_calls(engine: Engine, checkout: Path) -> tuple[Calls, Calls]:
    """The calls that codelens reports: the certain ones, and all."""
    certain: Calls = defaultdict(lambda: defaultdict(set))
    every: Calls = defaultdict(lambda: defaultdict(set))
    # Python reads a property without a call.
    kinds = {"ruby": {"call"}, "python": {"call", "ref", "protocol"}}
    for edge in engine.export_edges(path=checkout, possible=True):
        if edge.kind in kinds.get(language_of(edge.src_file.encode(), b"") or "", ()):
            source, target = (edge.src_file, edge.src_line), (edge.dst_file, edge.dst_line)
            name = f".{edge.name}" if edge.kind == "ref" else edge.name
            every[source][name].add(target)
            if edge.confidence == 1:
                certain[source][name].add(target)
    return certain, every


def has(trace: Traced, calls: Calls, source: Place, called: Place) -> bool:
    """Whether an edge exists, from the definition or its container, to the target or its equal."""
    goals = {called} | trace.same[called]
    sources = {source, (source[0], 0)} | {(source[0], row[4]) for row in trace.around(*source)}
    return any(goals & set().union(*calls[place].values()) for place in sources if place in calls)


class Answers:
    """The lines that `references` lists for the methods of a checkout."""

    def __init__(self, engine: Engine, checkout: Path, trace: Traced) -> None:
        self._engine, self._checkout, self._trace = engine, checkout, trace
        self._lines: dict[Place, dict[str, list[int]]] = {}

    def list(self, source: Place, called: Place) -> bool:
        """Whether a line of the definition that calls is listed for the method called."""
        if called not in self._lines:
            self._lines[called] = self._asked(called)
        lines = self._lines[called].get(source[0], [])
        rows = [row for row in self._trace.around(*source) if row[4] == source[1]]
        first, last = (rows[-1][1], rows[-1][2]) if rows else (0, sys.maxsize)
        return any(first <= line <= last for line in lines)

    def _asked(self, called: Place) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        target, cursor = f"{called[0]}:{called[1]}", ""
        while True:
            answer = self._engine.references(
                target, path=self._checkout, limit=1_000, cursor=cursor
            )
            for site in answer.references:
                found[site.path].append(site.line)
            cursor = answer.cursor
            if not cursor:
                return found


def show(
    label: str, pairs: Iterable[tuple[Place, Place]], trace: Traced,
    reported: tuple[Calls, Calls], answers: Answers,
) -> list[tuple[Place, Place]]:  # fmt: skip
    """Prints one row of the table, and returns the calls that no answer of codelens lists."""
    every = sorted(set(pairs))
    certain, unlinked = (
        [pair for pair in every if has(trace, calls, *pair) is wanted]
        for calls, wanted in zip(reported, (True, False), strict=True)
    )
    lost = [pair for pair in unlinked if not answers.list(*pair)]
    count = max(len(every), 1)
    shares = (len(certain) / count, 1 - len(unlinked) / count, 1 - len(lost) / count)
    print(f"| {label} | {len(every):,} | {' | '.join(f'{share:.3f}' for share in shares)} |")
    return lost


def precision(trace: Traced, certain: Calls) -> tuple[int, int]:
    """The number of judged calls, and how many of them were observed."""
    seen: dict[tuple[Place, str], set[Place]] = defaultdict(set)
    for (source, name), called in trace.calls.items():
        # `a.b = c` calls `b=`.
        written = "new" if name == "initialize" else name.rstrip("=")
        seen[source, written] |= called.union(*(trace.same[place] for place in called))
    judged, right = 0, 0
    for (source, written), goals in seen.items():
        mine = certain.get(source, {}).get(written, set())
        judged, right = judged + len(mine), right + len(mine & goals)
    return judged, right


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path)
    parser.add_argument("command", nargs="+")
    parser.add_argument("--missed", type=int, default=0, metavar="N",
                        help="list N of the pairs that codelens does not have")  # fmt: skip
    args = parser.parse_args()
    checkout = args.checkout.resolve()
    trace = traced(checkout, args.command)
    with tempfile.TemporaryDirectory() as home:
        os.environ["CODELENS_HOME"] = home
        with Engine() as engine:
            print_table(engine, checkout, trace, args.missed)


def print_table(engine: Engine, checkout: Path, trace: Traced, missed: int) -> None:
    """Prints the table, the precision, and some of the calls that no answer lists."""
    reported = reported_calls(engine, checkout)
    answers = Answers(engine, checkout, trace)
    print("| calls | pairs | recall | or possible | or listed |\n|---|---|---|---|---|")
    groups: dict[str, list[tuple[Place, Place]]] = {"one": [], "several": []}
    for (source, _), called in trace.calls.items():
        groups["one" if len(called) == 1 else "several"] += [(source, place) for place in called]
    lost: list[tuple[Place, Place]] = []
    for label, pairs in groups.items():
        lost += show(label, pairs, trace, reported, answers)
    show("named", groups["one"] + groups["several"], trace, reported, answers)
    if trace.protocol:
        lost += show("protocol", trace.protocol, trace, reported, answers)
    judged, right = precision(trace, reported[0])
    print(f"{len(trace.aside):,} pairs set aside: the name is not written in what calls")
    print(f"precision {right / max(1, judged):.3f} of {judged:,} calls")
    step = max(1, len(lost) // missed) if missed else 1
    for source, target in lost[::step][:missed]:
        print(f"    {source[0]}:{source[1]} -> {target[0]}:{target[1]}")


if __name__ == "__main__":
    main()
