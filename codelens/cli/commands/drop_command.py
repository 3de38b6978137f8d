"""`codelens drop`: remove a view, or all of a repository, now."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.errors import SettingError


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands,
        "drop",
        "remove a view, or the whole index of a repository",
        "Removes a view from the index. Saved contexts are kept. An active or pinned view "
        "is removed only with --force. Only time is lost: a view is rebuilt when it is "
        "next needed.",
    )
    parser.add_argument(
        "view", nargs="?", default="", metavar="VIEW",
        help="a branch, a ref, a worktree's folder, or an id of `codelens status --all`",
    )  # fmt: skip
    parser.add_argument(
        "--repository", nargs="?", const="", metavar="ID",
        help="the whole index of the current repository, or of the repository with this id",
    )  # fmt: skip
    parser.add_argument("--force", action="store_true", help="also remove active or pinned views")
    shared_options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Drop and say what went.

    Raises:
        SettingError: neither a view nor a repository was named, or both.
    """
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.render import upkeep_text

    repository: str | None = args.repository
    if not args.view and repository is None:
        raise SettingError("nothing to drop; name a view, or give --repository")
    if args.view and repository is not None:
        raise SettingError(
            "a view and --repository cannot be combined; name a view, or give --repository"
        )
    with Engine() as engine:
        if repository is None:
            done = engine.drop(args.view, path=args.path, force=args.force)
        else:
            done = engine.drop_repository(path=args.path, repo_id=repository, force=args.force)
    if args.json:
        screen.put_json(upkeep_text.dropped_json(done))
    else:
        screen.page(*upkeep_text.dropped_lines(done))
    return 0
