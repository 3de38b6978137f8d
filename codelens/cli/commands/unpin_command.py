"""`codelens unpin`: let a view age again."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.cli.commands import pin_command


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "unpin", "allow a pinned view to be pruned again",
        "Unpins a view, so that `prune` can remove it when it has expired.",
    )  # fmt: skip
    pin_command.add_arguments(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Unpin and say so."""
    return pin_command.change(args, pinned=False)
