"""`codelens export symbols`: every definition, as JSON lines."""

from __future__ import annotations

import argparse
import json

from codelens.cli import options
from codelens.cli.progress import Bar
from codelens.cli.streams import emit


def add(commands: options.Commands) -> None:
    """Its arguments."""
    parser = options.command(
        commands, "export", "every definition as JSON lines",
        "Every definition as JSON lines, by path and line: path, name, qualified_name, kind, "
        "start_line, end_line, line (of the name), exported, language.",
    )  # fmt: skip
    parser.add_argument("what", choices=("symbols",))
    options.add_ref(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print them; 1 if there are none."""
    from dataclasses import asdict

    from codelens.engine.engine import Engine

    found = False
    with Engine() as engine, Bar() as bar:
        for symbol in engine.export_symbols(path=args.path, ref=args.ref, progress=bar):
            found = True
            emit(f"{json.dumps(asdict(symbol), ensure_ascii=False)}\n")
    return 0 if found else 1
