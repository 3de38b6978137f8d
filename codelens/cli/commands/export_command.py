"""`codelens export symbols|edges|contexts`: all of them, as JSON."""

from __future__ import annotations

import argparse
import json

from codelens.cli import shared_options
from codelens.cli.progress_bar import Bar
from codelens.cli.standard_streams import emit


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "export", "print every definition, edge or saved context as JSON",
        "Prints JSON lines, sorted by path and line. symbols: every definition (path, "
        "name, qualified_name, kind, start_line, end_line, line (of the name), exported, "
        "language). edges: every certain call, use, base class and import, and what "
        "belongs to what (src_file, "
        "src_line, dst_file, dst_line, kind, name, line, confidence; lines of the names of "
        "definitions). contexts: all saved contexts, as one object that `codelens load "
        "--import` reads.",
    )  # fmt: skip
    parser.add_argument("what", choices=("symbols", "edges", "contexts"))
    parser.add_argument("--possible", action="store_true",
                        help="edges of uses too that may mean one of several definitions, with a "
                             "confidence below 1")  # fmt: skip
    shared_options.add_ref(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print them; 1 if there are none."""
    from dataclasses import asdict
    from functools import partial

    from codelens.engine.engine import Engine
    from codelens.errors import SettingError
    from codelens.render.json_paths import with_usable_paths

    if args.possible and args.what != "edges":
        raise SettingError("only edges can be possible; omit --possible")
    if args.what == "contexts":
        if args.ref is not None:
            raise SettingError("saved contexts do not belong to a ref; omit --ref")
        return _contexts(args.path)
    is_found = False
    with Engine() as engine, Bar() as bar:
        edges = partial(engine.export_edges, possible=args.possible)
        export = edges if args.what == "edges" else engine.export_symbols
        for line in export(path=args.path, ref=args.ref, progress=bar):
            is_found = True
            row = with_usable_paths(asdict(line))
            emit(f"{json.dumps(row, ensure_ascii=False)}\n")
    return 0 if is_found else 1


def _contexts(path: str) -> int:
    from codelens.engine.engine import Engine

    with Engine() as engine:
        exported = engine.export_contexts(path=path)
    emit(f"{json.dumps(exported, ensure_ascii=False, indent=2)}\n")
    return 0 if exported["contexts"] else 1
