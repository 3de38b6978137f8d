"""`codelens conflicts`: what will collide with the work in other worktrees and branches."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.cli.progress_bar import Bar


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "conflicts", "what will collide with other worktrees and branches",
        "Reports what git could not merge, definitions that both sides changed, and places "
        "where one side newly uses what the other changed. Uncommitted edits of all "
        "worktrees are included. Without --with, compares all worktrees, and branches with "
        "commits in the last 14 days.",
    )  # fmt: skip
    parser.add_argument(
        "--with", action="append", default=[], dest="others", metavar="OTHER",
        help="a worktree by path, folder name or branch, or a ref (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--base", default="", metavar="REF",
        help="compare changes since this commit instead of the merge base; definitions only",
    )  # fmt: skip
    parser.add_argument(
        "--all", action="store_true",
        help="also show harmless overlaps; with --changing, also changes of documentation and "
        "formatting alone",
    )  # fmt: skip
    parser.add_argument(
        "--changing", action="append", default=[], dest="files", metavar="FILE",
        help="instead list the definitions of this file that other worktrees have changed; "
        "nothing is compared with the changes here (repeatable)",
    )  # fmt: skip
    shared_options.add_budget(parser)
    shared_options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compare and print; 1 if nothing collides."""
    from codelens.cli import screen
    from codelens.engine.engine import Engine

    if args.files:
        return _run_changing(args)
    with Engine() as engine, Bar() as bar:
        answer = engine.conflicts(
            path=args.path,
            others=args.others,
            base=args.base,
            budget_ms=shared_options.budget_of(args, engine.settings),
            progress=bar,
        )
    if args.json:
        from codelens.render.branches import branch_json

        screen.put_json(branch_json.conflicts(answer))
    else:
        from codelens.render.branches import branch_text

        head, blocks = branch_text.conflicts(answer, detailed=args.all)
        screen.page(*blocks, *head)
        screen.say_all(answer.receipt, answer.notes)
    return 0 if answer.results else 1


def _run_changing(args: argparse.Namespace) -> int:
    """Print what other worktrees changed in some files; 1 if that is nothing."""
    from codelens.cli import screen
    from codelens.cli.relative_handles import from_here
    from codelens.engine.engine import Engine
    from codelens.errors import SettingError
    from codelens.plurals import count_of

    if args.others or args.base:
        raise SettingError("--changing cannot be combined with --with or --base; leave those out")
    files = [from_here(name, args.path) for name in args.files]
    with Engine() as engine:
        every = engine.changed_elsewhere(files, path=args.path, quiet=True)
    elsewheres = [row for row in every if args.all or not row.is_quiet]
    left = len(every) - len(elsewheres)
    if args.json:
        from codelens.render.branches import branch_json

        screen.put_json(branch_json.changed_elsewhere(elsewheres, left))
    else:
        from codelens.render.branches import branch_text

        screen.page(*branch_text.changed_elsewhere(elsewheres))
        if not elsewheres:
            screen.say("no other worktree has changed a definition in " + ", ".join(args.files))
        if left:
            changes = count_of(left, "change")
            screen.say(f"note: {changes} of documentation or formatting alone not shown: --all")
    return 0 if elsewheres else 1
