"""`codelens session`: what a session looked at and edited, by its trail."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "session", "show what a session looked at and edited",
        "Lists the calls of one session in this worktree, the latest last: when, what was done, "
        "and the handles. Without an id it is the session of the agent that runs the command, "
        "else the last one here. The trail has no code, and is kept for 90 days.",
    )  # fmt: skip
    parser.add_argument("session", nargs="?", default="", help="the id of a session, or its end")
    parser.add_argument("--all", action="store_true", help="list all sessions in this worktree")
    shared_options.add_count(parser, "--limit", 40, "maximum number of calls")
    shared_options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print; 1 if there is no trail."""
    from codelens.cli import screen
    from codelens.engine.engine import Engine

    with Engine() as engine:
        answer = engine.session(args.session, every=args.all, limit=args.limit, path=args.path)
    if args.json:
        from codelens.render.sessions import session_json

        screen.put_json(session_json.session(answer))
    else:
        from codelens.render.sessions import session_text

        screen.page(*session_text.session(answer))
        for note in answer.notes:
            screen.say(f"note: {note}")
    return 0 if answer.calls or answer.sessions else 1
