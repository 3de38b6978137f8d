"""`codelens forget`: delete saved contexts."""

from __future__ import annotations

import argparse

from codelens.cli import options


def add(commands: options.Commands) -> None:
    """Its arguments."""
    parser = options.command(
        commands, "forget", "delete saved contexts, by their names",
        "Delete what was saved under these names, all or none; `codelens load` lists the names.",
    )  # fmt: skip
    parser.add_argument("name", nargs="+", help="as it was saved")
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Delete and print."""
    from codelens.cli import screen
    from codelens.engine.engine import Engine

    with Engine() as engine:
        answer = engine.forget(args.name, path=args.path)
    if args.json:
        from codelens.engine import memory_json

        screen.put_json(memory_json.forget(answer))
    else:
        screen.put_safe(*(f"forgot {name}" for name in answer.forgotten))
        for note in answer.notes:
            screen.say(f"note: {note}")
    return 0
