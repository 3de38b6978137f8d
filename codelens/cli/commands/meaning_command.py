"""`codelens meaning`: the table of words that words are ranked by, and what it makes of a query."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.cli.progress_bar import Bar


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "meaning", "show what words are taken to mean in the ranking",
        "status: the table of words, and how much of the index has vectors by it. test: the words "
        "that lie next to those of a query.",
    )  # fmt: skip
    parser.add_argument("action", choices=("status", "test"))
    parser.add_argument("query", nargs="*", help="of `test`: words or a sentence")
    shared_options.add_view(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print; 1 if the table knows no word of the query, or cannot be read."""
    return _test(args) if args.action == "test" else _status(args)


def _status(args: argparse.Namespace) -> int:
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.render.meaning import meaning_text

    with Engine() as engine, Bar() as bar:
        answer = engine.meaning_status(
            path=args.path,
            ref=args.ref,
            budget_ms=shared_options.budget_of(args, engine.settings),
            progress=bar,
        )
    if args.json:
        screen.put_json(meaning_text.status_json(answer))
    else:
        screen.page(*meaning_text.status_lines(answer))
        screen.say_all(answer.receipt)
    return 1 if answer.damage else 0


def _test(args: argparse.Namespace) -> int:
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.render.meaning import meaning_text

    with Engine() as engine:
        answer = engine.meaning_test(" ".join(args.query))
    if args.json:
        screen.put_json(meaning_text.test_json(answer))
    else:
        screen.page(*meaning_text.test_lines(answer))
    return 0 if answer.near else 1
