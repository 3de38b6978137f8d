"""`codelens search`: ranked places that answer a query, in one or several repositories."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from codelens.cli import shared_options
from codelens.cli.command_examples import DONE, FAILED, NOTHING
from codelens.cli.standard_streams import Bar

if TYPE_CHECKING:
    from codelens.answers.reading_answers import JointAnswer, SearchAnswer


def search_joint(args: argparse.Namespace) -> int:
    """Search several repositories; return 1 if nothing was found, 2 if all of them failed."""
    from codelens.engine.engine import Engine
    from codelens.errors import InvalidArgument

    if args.rerank == "on":
        raise InvalidArgument("rerank", "cannot be used with --repository; leave it out")
    with Engine() as engine, Bar() as bar:
        # Relative paths are relative to `-C`.
        named: list[str] = args.repository
        repositories = [os.path.join(args.path, path) for path in named]
        answer = engine.search_repositories(
            " ".join(args.query),
            repositories,
            mode="meaning" if args.meaning == "only" else args.mode,
            content=args.content,
            limit=args.limit,
            explain=args.explain,
            meaning=None if args.meaning is None else args.meaning != "off",
            ref=args.ref,
            languages=args.lang,
            globs=args.glob,
            kinds=args.kind,
            budget_ms=shared_options.budget_of(args, engine.settings),
            progress=bar,
        )
    if args.json:
        from codelens.cli.standard_streams import emit
        from codelens.render import search_text, token_budget

        shaped = search_text.joint_json(answer)
        emit(f"{token_budget.fitted_json(shaped, 'results', args.max_tokens)}\n")
    else:
        _print_joint(answer, args.max_tokens, explain=args.explain)
    if all(part.error for part in answer.repositories):
        return FAILED
    return DONE if answer.results else NOTHING


def _print_joint(answer: JointAnswer, max_tokens: int | None, *, explain: bool) -> None:
    """Print results on stdout, and the receipt or error of each repository on stderr."""
    from codelens.cli import screen
    from codelens.cli.standard_streams import fail
    from codelens.render import search_text, token_budget
    from codelens.render.text_pieces import head_line

    blocks = [search_text.block(hit, detailed=explain) for hit in answer.results]
    fitted = token_budget.fitted(
        search_text.joint_head(answer, in_call=False), blocks,
        lambda left: search_text.left_out(left, 0, answer.left, typed=True), max_tokens,
    )  # fmt: skip
    if sys.stdout.isatty():
        from codelens.cli.terminal_hit import show

        for hit in answer.results[: len(fitted.blocks)]:
            show(hit)
    else:
        for block in fitted.blocks:
            screen.put(block)
    if fitted.more:
        screen.say(f"note: {fitted.more}")
    for part in answer.repositories:
        for note in part.notes:
            screen.say(f"note: {part.root}: {note}")
        if part.receipt is not None:
            screen.say(head_line(part.receipt))
        if part.error:
            fail(f"{part.root}: {part.error}")


_MODES = ("auto", "symbol", "text", "regex", "path")


def add_search(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "search", "find code: ranked places, best first",
        "Lists the places that answer the query, best first, for the files as they are now.",
    )  # fmt: skip
    parser.add_argument("query", nargs="+", help="words, an identifier, a path or a sentence")
    parser.add_argument(
        "--mode", choices=_MODES, default="auto",
        help="auto: ranked by words; symbol: definitions by name; text: exact text; regex; "
             "path: files by name",
    )  # fmt: skip
    parser.add_argument(
        "--repository", action="append", default=[], metavar="PATH",
        help="search the repository of this path (repeatable; several are ranked together)",
    )  # fmt: skip
    shared_options.add_filters(parser)
    parser.add_argument(
        "--content", choices=("all", "code", "prose"), default="all",
        help="search only code or only prose (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--limit",
        type=shared_options.positive,
        metavar="N",
        help="maximum number of results (default 10)",
    )
    parser.add_argument(
        "--max-tokens", type=shared_options.positive, metavar="N",
        help="maximum size in tokens (bytes / 3); omitted results are counted",
    )  # fmt: skip
    parser.add_argument(
        "--explain", action="store_true", help="show how much each feature adds to the score"
    )
    parser.add_argument(
        "--meaning", choices=("on", "off", "only"),
        help="also rank by the meaning of words (default: on, or the setting `meaning`); "
             "only: rank by meaning alone",
    )  # fmt: skip
    parser.add_argument(
        "--rerank", choices=("on", "off"),
        help="reorder the first results with the reranker of the setting `cross_encoder` or of "
             "an enabled provider (default: as its profile says)",
    )  # fmt: skip
    shared_options.add_view(parser)
    parser.set_defaults(run=run_search)


def run_search(args: argparse.Namespace) -> int:
    """Search and print; return 1 if nothing was found."""
    if args.repository:
        return search_joint(args)
    from codelens.engine.engine import Engine

    with Engine() as engine, Bar() as bar:
        answer = engine.search(
            " ".join(args.query),
            mode="meaning" if args.meaning == "only" else args.mode,
            content=args.content,
            limit=args.limit,
            explain=args.explain,
            meaning=None if args.meaning is None else args.meaning != "off",
            rerank=None if args.rerank is None else args.rerank == "on",
            progress=bar,
            **shared_options.filtered(args, engine.settings),
        )
    if args.json:
        from codelens.cli.standard_streams import emit
        from codelens.render import reading_text, token_budget

        shape = reading_text.search_json(answer)
        emit(f"{token_budget.fitted_json(shape, 'results', args.max_tokens)}\n")
    else:
        brief = answer.mode != "meaning" and args.mode == "auto"
        brief = brief and args.limit is None and not args.explain
        _print(answer, args.max_tokens, explain=args.explain, brief=brief)
    return 0 if answer.results else 1


def _print(answer: SearchAnswer, max_tokens: int | None, *, explain: bool, brief: bool) -> None:
    """Print results on stdout and notes on stderr; both count towards `max_tokens`."""
    from codelens.cli import screen
    from codelens.render import search_text, text_pieces, token_budget

    if brief:
        answer = search_text.briefly(answer)
    if max_tokens is not None:
        answer = replace(answer, contexts=text_pieces.fitting_notes(answer.contexts, max_tokens))
    remarks = [
        *answer.notes, *text_pieces.all_notes_named(answer.contexts, answer.context_count)
    ]  # fmt: skip
    about = [f"note: {note}" for note in remarks] + [text_pieces.receipt_line(answer.receipt)]
    fitted = token_budget.fitted(
        about, search_text.blocks(answer, detailed=explain),
        lambda left: search_text.left_out(left, answer.unshown, answer.left, typed=True),
        max_tokens,
    )  # fmt: skip
    if sys.stdout.isatty():
        from codelens.cli.terminal_hit import show

        for hit in answer.results[: len(fitted.blocks)]:
            show(hit)
    else:
        for block in fitted.blocks:
            screen.put(block)
    screen.say_all(answer.receipt, [*remarks, *([fitted.more] if fitted.more else [])])
