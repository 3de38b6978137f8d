"""`codelens save`: a note with handles, kept for later and for all worktrees."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options, standard_streams
from codelens.cli.progress_bar import Bar
from codelens.cli.relative_handles import from_here


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "save", "save a note with handles",
        "Keeps a note with handles under a name, for all worktrees and branches of this "
        "repository. `codelens load` finds it and shows which handles are still valid.",
    )  # fmt: skip
    parser.add_argument("name", help="the name to find it by, such as auth-flow")
    parser.add_argument(
        "handle", nargs="*", default=[],
        help="what the note is about: src/auth.py#Session.validate, src/auth.py:10-42, "
        "src/auth.py, a bare name, or REF:HANDLE; each must exist now",
    )  # fmt: skip
    parser.add_argument(
        "--note", default="", metavar="TEXT", help="the note; - reads it from stdin"
    )
    parser.add_argument(
        "--category", default="", metavar="WHAT",
        help="decision, pattern, bug_fix, architecture, convention, auto or note (default note)",
    )  # fmt: skip
    parser.add_argument(
        "--tag", action="append", default=[], metavar="TAG", dest="tags",
        help="a tag to filter by (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--pin", action=argparse.BooleanOptionalAction, default=None,
        help="never expires and is listed first",
    )  # fmt: skip
    parser.add_argument(
        "--ttl", default="", metavar="TIME",
        help="how long to show it: 12h, 30d, 2w, or never (the default)",
    )  # fmt: skip
    parser.add_argument(
        "--replace", action="store_true", help="replace the saved context with this name"
    )
    parser.add_argument(
        "--update", action="store_true",
        help="change only what is given of the saved context with this name",
    )  # fmt: skip
    shared_options.add_view(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Save and print."""
    from codelens.cli import screen
    from codelens.engine.engine import Engine

    note = standard_streams.stdin_text() if args.note == "-" else args.note
    with Engine() as engine, Bar() as bar:
        answer = engine.save(
            args.name,
            note,
            [from_here(handle, args.path) for handle in args.handle],
            category=args.category,
            tags=args.tags,
            pinned=args.pin,
            ttl=args.ttl,
            replace=args.replace,
            update=args.update,
            path=args.path,
            ref=args.ref,
            budget_ms=shared_options.budget_of(args, engine.settings),
            progress=bar,
        )
    if args.json:
        from codelens.render import contexts_json

        screen.put_json(contexts_json.save(answer))
    else:
        from codelens.render import contexts_text

        screen.page(contexts_text.saved(answer))
        screen.say_all(answer.receipt, answer.notes)
    return 0
