"""`codelens index`: bring the index up to date now."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.cli.commands.status_command import show
from codelens.cli.progress_bar import Bar


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "index", "update the index now (other commands do this automatically)"
    )
    parser.add_argument(
        "--rebuild", action="store_true", help="delete the repository's index and build it again"
    )
    shared_options.add_ref(parser)
    shared_options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Index to the end and print the status."""
    from codelens.engine.engine import Engine

    with Engine() as engine, Bar() as bar:
        answer = engine.index(path=args.path, ref=args.ref, rebuild=args.rebuild, progress=bar)
    show(answer, as_object=args.json)
    return 0
