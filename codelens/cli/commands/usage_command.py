"""`codelens usage`: how much it was used on this machine, and what that saved."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options

_BY = ("day", "tool", "repository")


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = commands.add_parser(
        "usage", help="show how much codelens was used, and what it saved",
        description="Shows calls of the command line and the MCP server by day, tool and "
        "repository, bytes served, and what reading whole files would have cost. Counted only on "
        "this machine, never sent anywhere, without queries or code. CODELENS_USAGE=off turns "
        "it off.",
        **shared_options.help_of("usage"), allow_abbrev=False,
    )  # fmt: skip
    shared_options.add_count(parser, "--days", 30, "number of days, including today")
    parser.add_argument("--by", choices=_BY, action="append", help="show only this chart")
    shared_options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print; 1 if nothing was counted."""
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.render import usage_text

    with Engine() as engine:
        answer = engine.usage(days=args.days)
    if args.json:
        screen.put_json(usage_text.as_json(answer))
    else:
        screen.page(*usage_text.as_text(answer, args.by or _BY))
        if not answer.counted:
            screen.say("note: usage is not counted: the setting `usage` is off")
    return 0 if answer.total.calls else 1
