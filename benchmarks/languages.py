#!/usr/bin/env python3
"""Compares the extracted facts of each language with independent judges.

    python benchmarks/languages.py compare --language NAME [REPOSITORY...]
    python benchmarks/languages.py table
    python benchmarks/languages.py truth EDGES REPOSITORY...
    python benchmarks/languages.py cpu [--language NAME]...
    python benchmarks/languages.py macros REPOSITORY...

`macros` counts, for C and C++, with and without the repair around macros: ctags' definitions that
codelens finds, names that hold a blank, and functions named after a macro that ctags does not
report there.

`compare` compares codelens with Universal Ctags on the same files: recall of ctags' functions,
classes, methods and types, and the definitions of codelens that ctags lacks ("extras").
`--write-sample` writes a random sample of the extras to benchmarks/judged/<language>.tsv with an
empty `class`, to fill in after reading the source (right | debatable | wrong). `--write-misses`
writes the misses to <language>.misses.tsv (ctags-wrong | debatable | ours). Both keep existing
verdicts. benchmarks/languages.toml has the languages, the kinds that count, and the
repositories with their commits.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from language_judges import costs, macros, report, truth
from language_judges.plan import ROOT


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("compare", help="one language compared with ctags")
    one.add_argument("--language", required=True)
    one.add_argument("repositories", nargs="*", help="folders or names; else those of the plan")
    one.add_argument("--sample", type=int, default=40, help="extras shown or written")
    one.add_argument("--misses", type=int, default=30, help="misses shown (0: all) or written")
    one.add_argument("--kind", action="append", help="show misses and extras of these kinds only")
    one.add_argument("--write-sample", action="store_true")
    one.add_argument("--write-misses", action="store_true")
    table = commands.add_parser("table", help="markdown table of all languages")
    table.add_argument("--language", action="append")
    edges = commands.add_parser("truth", help="recall of a type checker's definitions")
    edges.add_argument("edges", type=Path, help="folder with *.jsonl.xz")
    edges.add_argument("repositories", nargs="+", type=Path)
    edges.add_argument("--misses", type=int, default=30)
    cpu = commands.add_parser("cpu", help="CPU per MB, bare parse and ctags")
    cpu.add_argument("--language", action="append")
    cpu.add_argument("--rounds", type=int, default=3)
    named = commands.add_parser("macros", help="C and C++: names that macros broke")
    named.add_argument("repositories", nargs="+", help="folders or names")
    for command in (one, table, cpu, named):
        command.add_argument("--root", type=Path, default=ROOT, help="where checkouts lie")
    for command, most in ((one, 10.0), (table, 10.0), (named, 10.0), (cpu, 2.0)):
        command.add_argument(
            "--megabytes", type=float, default=most, help="read of each repository"
        )
    args = parser.parse_args()
    run = {
        "compare": report.compare, "table": report.table, "truth": truth.run, "cpu": costs.run,
        "macros": macros.run,
    }  # fmt: skip
    run[args.command](args)


if __name__ == "__main__":
    main()
