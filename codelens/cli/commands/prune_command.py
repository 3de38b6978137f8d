"""`codelens prune`: remove views that nobody has asked for long; made for cron."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from codelens.cli import shared_options

if TYPE_CHECKING:
    from codelens.answers.upkeep_answers import PruneAnswer


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands,
        "prune",
        "remove views of branches and worktrees that have not been used for a long time",
        "Removes unused views from the indexes of all repositories (with -C, of one): "
        "views of branches that are not checked out (after 14 days), of detached HEADs (3 "
        "days), of removed worktrees (48 hours) and of refs (3 days), and everything that "
        "no view needs any more. A pinned view, the active view of a worktree, or a "
        "recently used view is never removed. On a terminal it only shows what would be "
        "removed, unless --yes is given; elsewhere (cron) it removes and prints nothing.",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--yes",
        action="store_true",
        help="remove without asking, even on a terminal, and report what was removed",
    )
    how.add_argument(
        "--dry-run", action="store_true", help="show what would be removed; remove nothing"
    )
    parser.add_argument(
        "--days", type=shared_options.days, metavar="N",
        help="keep unused views for this long instead of the configured times",
    )  # fmt: skip
    shared_options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Prune; 2 if an index could not be."""
    from codelens.engine.engine import Engine

    watched = sys.stdout.isatty()
    dry_run = args.dry_run or (watched and not args.yes)
    with Engine() as engine:
        only = getattr(args, "path", ".")
        answer = engine.prune(dry_run=dry_run, days=args.days, only=None if only == "." else only)
    if args.json or dry_run or args.yes:
        _show(answer, as_object=args.json)
    if answer.failed:
        from codelens.cli.standard_streams import fail

        return fail("; ".join(result.error for result in answer.results if result.error))
    return 0


def _show(answer: PruneAnswer, *, as_object: bool) -> None:
    from codelens.cli import screen
    from codelens.render import upkeep_text

    if as_object:
        screen.put_json(upkeep_text.prune_json(answer))
    else:
        screen.page(*upkeep_text.prune_lines(answer))
