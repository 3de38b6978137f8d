"""CPU per MB of extraction compared with a bare parse and ctags, interleaved in one run."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tree_sitter import Parser

from codelens.extract.facts import facts_of, structure
from codelens.extract.file_kinds import decode
from codelens.extract.parse.grammars import grammar
from language_judges.definitions import Text, ctags_command, texts
from language_judges.plan import Plan, folders, plans

_HEADER = ("language", "files", "MB", "parse", "structure", "facts", "ctags", "facts / parse")


class Source(NamedTuple):
    repository: Path
    files: list[Text]


def run(args: argparse.Namespace) -> None:
    """Prints CPU ms per MB for each language of the plan that has repositories."""
    print("| " + " | ".join(_HEADER) + " |\n|" + "---|" * len(_HEADER))
    for plan in plans().values():
        if args.language and plan.language not in args.language:
            continue
        if plan.repositories:
            print(_row(plan, args), flush=True)


def _row(plan: Plan, args: argparse.Namespace) -> str:
    limit = int(args.megabytes * 1_000_000)
    sources = [
        Source(folder, texts(folder, plan, limit)) for folder in folders(plan, [], args.root)
    ]
    files = [text for source in sources for text in source.files]
    size = sum(len(text.data) for text in files) / 1e6
    if not files:
        return f"| {plan.language} | 0 | 0 | | | | | |"
    steps = _steps(plan, files)
    took: dict[str, list[float]] = {name: [] for name in (*steps, "ctags")}
    for _ in range(args.rounds):
        for name, step in steps.items():
            took[name].append(_own_cpu(step))
        if plan.ctags:
            took["ctags"].append(sum(_ctags_cpu(plan, source) for source in sources))
    cells = {
        name: f"{1000 * statistics.median(rounds) / size:,.0f}" if rounds else "-"
        for name, rounds in took.items()
    }
    ratio = statistics.median(took["facts"]) / statistics.median(took["parse"])
    figures = (plan.language, f"{len(files):,}", f"{size:.1f}", *cells.values(), f"{ratio:.1f}")
    return "| " + " | ".join(figures) + " |"


def _steps(plan: Plan, files: list[Text]) -> dict[str, Callable[[], None]]:
    decoded = [decode(text.data) for text in files]
    language = grammar(plan.language).language

    def parse() -> None:
        for text in decoded:
            Parser(language).parse(text)

    def structured() -> None:
        for text in decoded:
            structure(text, plan.language)

    def whole() -> None:
        for text in files:
            facts_of(text.data, plan.language)

    return {"parse": parse, "structure": structured, "facts": whole}


def _own_cpu(step: Callable[[], None]) -> float:
    started = time.process_time()
    step()
    return time.process_time() - started


def _ctags_cpu(plan: Plan, source: Source) -> float:
    """User and system seconds of one ctags process over the files."""
    process = subprocess.Popen(
        ctags_command(plan), cwd=source.repository, stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write("\n".join(text.path for text in source.files).encode())
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime
