"""`codelens forget`: delete saved contexts."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "forget", "delete saved contexts by name",
        "Deletes the contexts saved under these names, all or none; `codelens load` lists "
        "the names. No other command deletes a saved context.",
    )  # fmt: skip
    parser.add_argument("name", nargs="*", help="the name of a saved context")
    parser.add_argument(
        "--expired", action="store_true",
        help="all whose time to live has ended (`codelens load --expired` shows them)",
    )  # fmt: skip
    shared_options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Delete and print."""
    from codelens.cli import screen
    from codelens.engine.engine import Engine

    with Engine() as engine:
        answer = engine.forget(args.name, expired=args.expired, path=args.path)
    if args.json:
        from codelens.render import contexts_json

        screen.put_json(contexts_json.forget(answer))
    else:
        from codelens.render import contexts_text

        screen.page(*contexts_text.forgotten(answer))
        for note in answer.notes:
            screen.say(f"note: {note}")
    return 0
