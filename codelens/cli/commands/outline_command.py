"""`codelens outline`: the definitions of a file or folder."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.cli.progress_bar import Bar
from codelens.cli.relative_handles import from_here, standing_at


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "outline", "list the definitions of a file or folder",
        "Shows what a file or folder defines: lines, signatures, first lines of docs, and "
        "how many tokens reading all of it would cost.",
    )  # fmt: skip
    parser.add_argument(
        "target", nargs="?", default=None,
        help="a file, folder or handle (default: the whole worktree), relative to the "
        "worktree's root, or with ./ to the current folder",
    )  # fmt: skip
    parser.add_argument(
        "--detail", choices=("names", "signatures", "docs"), default="docs",
        help="what is shown of each definition (default docs: signature and first line of its doc)",
    )  # fmt: skip
    shared_options.add_view(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Fold and print; 1 if it holds nothing."""
    from codelens.cli import screen

    args.path = standing_at(args.path, [args.target or "."])
    from codelens.engine.engine import Engine

    target = "." if args.target is None else from_here(args.target, args.path, folders=True)
    with Engine() as engine, Bar() as bar:
        answer = engine.outline(
            target,
            path=args.path,
            ref=args.ref,
            detail=args.detail,
            budget_ms=shared_options.budget_of(args, engine.settings),
            progress=bar,
        )
    if args.json:
        from codelens.render import reading_json

        screen.put_json(reading_json.outline(answer))
    else:
        from codelens.render import outline_text

        screen.page(*outline_text.page_lines(answer))
        screen.say_all(answer.receipt, answer.notes)
    return 0 if answer.files or answer.folders else 1
