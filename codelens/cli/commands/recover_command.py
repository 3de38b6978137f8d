"""`codelens recover`: what a session needs to go on after its context was compacted."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.cli.progress_bar import Bar


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "recover", "show what a compacted session needs to go on",
        "Prints saved notes by category, what the session looked at and edited, what changed on "
        "this branch since it began, and what was done in other worktrees. Code that was sent "
        "to a session in this worktree is sent in full again.",
    )  # fmt: skip
    parser.add_argument(
        "session", nargs="?", default="",
        help="the id of a session, or its end (default: the one of the agent that runs the "
        "command, else the last one here)",
    )  # fmt: skip
    shared_options.add_budget(parser)
    shared_options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Look and print; 1 if there is nothing to go on with."""
    from codelens.cli import screen
    from codelens.engine.engine import Engine

    with Engine() as engine, Bar() as bar:
        answer = engine.recover(
            args.session,
            path=args.path,
            budget_ms=shared_options.budget_of(args, engine.settings),
            progress=bar,
        )
    if args.json:
        from codelens.render.sessions import session_json

        screen.put_json(session_json.recover(answer))
    else:
        from codelens.render.sessions import session_text

        screen.page(*session_text.recover(answer))
        screen.say_all(answer.receipt, answer.notes)
    return 0 if answer.calls or answer.saved else 1
