"""`codelens history`: the commits that changed a definition, through renames and moves."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.cli.progress_bar import Bar
from codelens.cli.relative_handles import from_here, standing_at


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "history", "show the commits that changed a definition, or the last change of "
                        "each definition in a file",
        "Lists the commits that changed a definition, newest first, through renames and "
        "moves between files, starting with an uncommitted change. For a file, shows when "
        "each of its definitions was last changed.",
    )  # fmt: skip
    parser.add_argument("target", help="a handle, a file, or a name that only one definition has")
    shared_options.add_count(parser, "--limit", 20, "maximum number of changes")
    parser.add_argument(
        "--since", default="", metavar="DATE", help="only changes since: 2026-01-31, 14d, 6weeks"
    )
    parser.add_argument("--at", dest="ref", metavar="REF", help="start from this ref")
    parser.add_argument("--first-parent", action="store_true", help="follow only first parents")
    parser.add_argument("--patch", action="store_true", help="show the diff of the definition")
    parser.add_argument(
        "--touched-with", action="store_true", help="count what else changed in the same commits"
    )
    shared_options.add_budget(parser)
    shared_options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Walk and print; 1 if there is no history."""
    from codelens.cli import screen

    args.path = standing_at(args.path, [args.target])
    from codelens.engine.engine import Engine

    with Engine() as engine, Bar() as bar:
        answer = engine.history(
            from_here(args.target, args.path),
            path=args.path,
            ref=args.ref,
            limit=args.limit,
            since=args.since,
            first_parent=args.first_parent,
            patch=args.patch,
            together=args.touched_with,
            budget_ms=shared_options.budget_of(args, engine.settings),
            progress=bar,
        )
    if args.json:
        from codelens.render.branches import branch_json

        screen.put_json(branch_json.history(answer))
    else:
        from codelens.render.branches import branch_text

        head, blocks = branch_text.history(answer)
        screen.page(*head, *blocks)
        screen.say_all(answer.receipt, answer.notes)
    return 0 if answer.results or answer.definitions or answer.together else 1
