"""`codelens forget`: delete saved contexts."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "forget", "delete saved contexts by name",
        "Delete what was saved under these names, all or none; `codelens load` lists the names. "
        "Nothing else ever deletes a saved context.",
    )  # fmt: skip
    parser.add_argument("name", nargs="*", help="as it was saved")
    parser.add_argument(
        "--expired", action="store_true",
        help="those whose time to live is over (`codelens load --expired` shows them)",
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

        screen.put_safe(*contexts_text.forgotten(answer))
        for note in answer.notes:
            screen.say(f"note: {note}")
    return 0
