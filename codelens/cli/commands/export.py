"""`codelens export symbols|edges`: every definition or edge, as JSON lines."""

from __future__ import annotations

import argparse
import json

from codelens.cli import options
from codelens.cli.progress import Bar
from codelens.cli.streams import emit


def add(commands: options.Commands) -> None:
    """Its arguments."""
    parser = options.command(
        commands, "export", "every definition or edge as JSON lines",
        "As JSON lines, by path and line. symbols: every definition (path, name, qualified_name, "
        "kind, start_line, end_line, line (of the name), exported, language). edges: who calls, "
        "uses, derives from and imports what, as far as it is certain (src_file, src_line, "
        "dst_file, dst_line, kind, name, line, confidence; lines of the names of definitions).",
    )  # fmt: skip
    parser.add_argument("what", choices=("symbols", "edges"))
    options.add_ref(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print them; 1 if there are none."""
    from dataclasses import asdict

    from codelens.engine.engine import Engine

    found = False
    with Engine() as engine, Bar() as bar:
        export = engine.export_edges if args.what == "edges" else engine.export_symbols
        for one in export(path=args.path, ref=args.ref, progress=bar):
            found = True
            emit(f"{json.dumps(asdict(one), ensure_ascii=False)}\n")
    return 0 if found else 1
