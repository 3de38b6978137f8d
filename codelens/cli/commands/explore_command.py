"""`codelens explore`: the code that a task needs, in one go and within a number of tokens."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from codelens.capsule.task_intent import INTENTS
from codelens.cli import shared_options
from codelens.cli.progress_bar import Bar

if TYPE_CHECKING:
    from codelens.answers.explore_answers import ExploreAnswer

_DEFAULT_TOKENS = 8000


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "explore", "show the code that a task needs, within a number of tokens",
        "Prints the definitions to change or read for a task, with line numbers, what they "
        "use or what uses them, and the tests. Describe the task in as many words as you "
        "have.",
    )  # fmt: skip
    parser.add_argument(
        "task", nargs="+", help="the task; handles, paths and stack traces in it are used"
    )
    parser.add_argument(
        "--max-tokens", type=shared_options.positive, default=_DEFAULT_TOKENS, metavar="N",
        help=f"maximum size in tokens (bytes / 3; default {_DEFAULT_TOKENS:,})",
    )  # fmt: skip
    parser.add_argument(
        "--intent",
        choices=tuple(INTENTS),
        help="which neighbours matter (default: derived from the task's words)",
    )
    shared_options.add_filters(parser)
    shared_options.add_session(parser)
    shared_options.add_view(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Look and print; 1 if nothing answers."""
    from codelens.engine.engine import Engine

    with Engine() as engine, engine.as_session(args.session):
        with Bar() as bar:
            answer = engine.explore(
                " ".join(args.task),
                max_tokens=args.max_tokens,
                intent=args.intent,
                again=args.again,
                progress=bar,
                **shared_options.filtered(args, engine.settings),
            )
        engine.note_sent(_printed(answer, args))
    return 0 if answer.pieces else 1


def _printed(answer: ExploreAnswer, args: argparse.Namespace) -> ExploreAnswer:
    """Print an answer; what of it was printed."""
    from codelens.cli import screen

    if args.json:
        from codelens.cli.standard_streams import emit
        from codelens.render import explore_json

        text, printed = explore_json.fitted(answer, args.max_tokens)
        emit(f"{text}\n")
        return printed
    from codelens.render import explore_text

    screen.page(*explore_text.body(answer, typed=True))
    screen.say_all(answer.receipt, answer.notes)
    return answer
