"""`codelens status`: where one stands and how the index is."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from codelens.cli import shared_options
from codelens.cli.progress_bar import Bar

if TYPE_CHECKING:
    from codelens.answers.reading_answers import StatusAnswer


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "status", "show the current scope, how fresh the index is, and what was skipped"
    )
    parser.add_argument(
        "--all", action="store_true",
        help="show every repository and view instead: size, age, last use, and why it "
             "would be pruned or kept",
    )  # fmt: skip
    shared_options.add_view(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Look and print."""
    from codelens.engine.engine import Engine

    if args.all:
        return _show_all(as_object=args.json)
    with Engine() as engine, Bar() as bar:
        answer = engine.status(
            path=args.path,
            ref=args.ref,
            budget_ms=shared_options.budget_of(args, engine.settings),
            progress=bar,
        )
    show(answer, as_object=args.json)
    return 0


def _show_all(*, as_object: bool) -> int:
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.render import upkeep_text

    with Engine() as engine:
        repositories = engine.overview()
    if as_object:
        screen.put_json(upkeep_text.overview_json(repositories))
    else:
        screen.page(*upkeep_text.overview_lines(repositories))
    return 0


def show(answer: StatusAnswer, *, as_object: bool) -> None:
    """Print a status."""
    from codelens.cli import screen

    if as_object:
        from codelens.render import reading_json

        screen.put_json(reading_json.status(answer))
        return
    from codelens.render.text_pieces import status_rows

    rows = status_rows(answer)
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        screen.field(f"{name:<{width}}", value)
    screen.say_all(answer.receipt)
