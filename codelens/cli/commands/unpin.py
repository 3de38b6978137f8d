"""`codelens unpin`: let a view age again."""

from __future__ import annotations

import argparse

from codelens.cli import options
from codelens.cli.commands import pin


def add(commands: options.Commands) -> None:
    """Its arguments."""
    parser = options.command(
        commands, "unpin", "let a pinned view age again",
        "Unpins a view: `prune` removes it when its time has come.",
    )  # fmt: skip
    pin.add_arguments(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Unpin and say so."""
    return pin.change(args, pinned=False)
