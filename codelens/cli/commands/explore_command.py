"""`codelens explore`: the code that a task needs, in one go and within a number of tokens."""

from __future__ import annotations

import argparse

from codelens.capsule.task_intent import INTENTS
from codelens.cli import shared_options
from codelens.cli.progress_bar import Bar

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
    shared_options.add_ref(parser)
    shared_options.add_budget(parser)
    shared_options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Look and print; 1 if nothing answers."""
    from codelens.cli import screen
    from codelens.engine.engine import Engine

    with Engine() as engine, Bar() as bar:
        answer = engine.explore(
            " ".join(args.task),
            max_tokens=args.max_tokens,
            intent=args.intent,
            progress=bar,
            **shared_options.filtered(args, engine.settings),
        )
    if args.json:
        from codelens.cli.standard_streams import emit
        from codelens.render import explore_json, token_budget

        shaped = explore_json.explore(answer)
        emit(f"{token_budget.fitted_json(shaped, 'results', args.max_tokens)}\n")
    else:
        from codelens.render import explore_text

        screen.page(*explore_text.body(answer, typed=True))
        screen.say_all(answer.receipt, answer.notes)
    return 0 if answer.pieces else 1
