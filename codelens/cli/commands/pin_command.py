"""`codelens pin`: keep a view whatever its age."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.cli.progress_bar import Bar


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "pin", "keep the view of a branch or ref, whatever its age",
        "Pins a view, so that `prune` never removes it. A ref without a view gets one.",
    )  # fmt: skip
    add_arguments(parser)
    parser.set_defaults(run=run)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Those that `unpin` has too."""
    parser.add_argument(
        "view", nargs="?", default="", metavar="VIEW",
        help="a branch, a ref, a worktree's folder, or an id of `codelens status --all` "
        "(default: the current view)",
    )  # fmt: skip
    shared_options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Pin and say so."""
    return change(args, pinned=True)


def change(args: argparse.Namespace, *, pinned: bool) -> int:
    """Pin or unpin, and say so."""
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.render import upkeep_text

    with Engine() as engine, Bar() as bar:
        done = engine.pin(args.view, path=args.path, pinned=pinned, progress=bar)
    if args.json:
        screen.put_json(upkeep_text.pinned_json(done))
    else:
        screen.page(upkeep_text.pinned_line(done))
    return 0
