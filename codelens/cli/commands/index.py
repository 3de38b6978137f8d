"""`codelens index`: bring the index up to date now."""

from __future__ import annotations

import argparse

from codelens.cli import options
from codelens.cli.commands.status import show
from codelens.cli.progress import Bar


def add(commands: options.Commands) -> None:
    """Its arguments."""
    parser = options.command(
        commands, "index", "bring the index up to date now (every other command does so by itself)"
    )
    parser.add_argument(
        "--rebuild", action="store_true", help="throw the repository's index away and start anew"
    )
    options.add_ref(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Index to the end and print the status."""
    from codelens.engine.engine import Engine

    with Engine() as engine, Bar() as bar:
        answer = engine.index(path=args.path, ref=args.ref, rebuild=args.rebuild, progress=bar)
    show(answer, as_object=args.json)
    return 0
