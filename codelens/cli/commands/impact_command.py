"""`codelens impact`: what a change can affect, and which tests to run."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.cli.progress_bar import Bar
from codelens.cli.relative_handles import from_here, standing_at


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "impact", "show what a change can affect, and which tests to run",
        "Lists direct and indirect users of the targets, by distance, and the tests that "
        "reach them. With --diff, the targets are the definitions that differ between a "
        "commit (default: HEAD) and the files on disk, untracked files included.",
    )  # fmt: skip
    parser.add_argument(
        "target", nargs="*", help="handles, files, folders or names; not with --diff"
    )
    parser.add_argument(
        "--diff", nargs="?", const="HEAD", metavar="BASE",
        help="take what differs from this commit (default: HEAD)",
    )  # fmt: skip
    shared_options.add_count(parser, "--depth", 3, "maximum number of steps, 1 to 5")
    shared_options.add_count(
        parser, "--limit", 60, "maximum number of definitions and of test files"
    )
    shared_options.add_view(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Look and print; 1 if nothing differs or nothing is hit."""
    from codelens.cli import screen

    args.path = standing_at(args.path, args.target or ["."])
    from codelens.engine.engine import Engine

    with Engine() as engine, Bar() as bar:
        answer = engine.impact(
            [from_here(target, args.path) for target in args.target],
            diff=args.diff,
            path=args.path,
            ref=args.ref,
            depth=args.depth,
            limit=args.limit,
            budget_ms=shared_options.budget_of(args, engine.settings),
            progress=bar,
        )
    if args.json:
        from codelens.render.graph import graph_json

        screen.put_json(graph_json.impact(answer))
    else:
        from codelens.render import saved_note_lines
        from codelens.render.graph import graph_text

        head, blocks = graph_text.impact(answer)
        screen.page(*head, *blocks)
        remarks = [*answer.notes, *saved_note_lines.all_named(answer.contexts)]
        screen.say_all(answer.receipt, remarks)
    return 0 if answer.results or answer.tests or answer.may else 1
