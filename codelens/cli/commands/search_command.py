"""`codelens search`: ranked places that answer a query, in one or several repositories."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codelens.cli import screen, shared_options
from codelens.cli.command_examples import DONE, FAILED, NOTHING
from codelens.cli.shared_options import asking
from codelens.cli.standard_streams import emit, fail
from codelens.errors import InvalidArgument
from codelens.render import text_pieces, token_budget

if TYPE_CHECKING:
    from codelens.answers.reading_answers import Hit, JointAnswer, SearchAnswer


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


def run_search(args: argparse.Namespace) -> int:
    """Search and print; return 1 if nothing was found, 2 if all of several repositories failed."""
    from codelens.answers.reading_answers import JointAnswer
    from codelens.render import reading_text, search_text

    if args.repository and args.rerank == "on":
        raise InvalidArgument("rerank", "cannot be used with --repository; leave it out")
    with asking() as (engine, bar):
        query = " ".join(args.query)
        filters: dict[str, Any] = {
            **shared_options.filtered(args, engine, bar),
            "mode": "meaning" if args.meaning == "only" else args.mode,
            "content": args.content,
            "limit": args.limit,
            "explain": args.explain,
            "meaning": None if args.meaning is None else args.meaning != "off",
        }
        if args.repository:
            # Relative paths are relative to `-C`.
            base: str = filters.pop("path")
            named: list[str] = args.repository
            repositories = [os.path.join(base, path) for path in named]
            answer = engine.search_repositories(query, repositories, **filters)
        else:
            rerank = None if args.rerank is None else args.rerank == "on"
            answer = engine.search(query, rerank=rerank, **filters)
    if args.json:
        joint = isinstance(answer, JointAnswer)
        shape = search_text.joint_json(answer) if joint else reading_text.search_json(answer)
        emit(f"{token_budget.fitted_json(shape, 'results', args.max_tokens)}\n")
    elif isinstance(answer, JointAnswer):
        _print_joint(answer, args.max_tokens, explain=args.explain)
    else:
        brief = answer.mode != "meaning" and args.mode == "auto"
        brief = brief and args.limit is None and not args.explain
        _print(answer, args.max_tokens, explain=args.explain, brief=brief)
    if isinstance(answer, JointAnswer) and all(part.error for part in answer.repositories):
        return FAILED
    return DONE if answer.results else NOTHING


def _print(answer: SearchAnswer, max_tokens: int | None, *, explain: bool, brief: bool) -> None:
    """Print results on stdout and notes on stderr; both count towards `max_tokens`."""
    from codelens.render import search_text

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
    _print_hits(answer.results, fitted.blocks)
    screen.say_all(answer.receipt, [*remarks, *([fitted.more] if fitted.more else [])])


def _print_joint(answer: JointAnswer, max_tokens: int | None, *, explain: bool) -> None:
    """Print results on stdout, and the receipt or error of each repository on stderr."""
    from codelens.render import search_text

    fitted = token_budget.fitted(
        search_text.joint_head(answer, in_call=False),
        [search_text.block(hit, detailed=explain) for hit in answer.results],
        lambda left: search_text.left_out(left, 0, answer.left, typed=True), max_tokens,
    )  # fmt: skip
    _print_hits(answer.results, fitted.blocks)
    if fitted.more:
        screen.say(f"note: {fitted.more}")
    for part in answer.repositories:
        for note in part.notes:
            screen.say(f"note: {part.root}: {note}")
        if part.receipt is not None:
            screen.say(text_pieces.head_line(part.receipt))
        if part.error:
            fail(f"{part.root}: {part.error}")


def _print_hits(hits: Sequence[Hit], blocks: Sequence[str]) -> None:
    """Print the blocks; on a terminal, their hits in another form."""
    if sys.stdout.isatty():
        for hit in hits[: len(blocks)]:
            _print_on_terminal(hit)
    else:
        for block in blocks:
            screen.put(block)


def _print_on_terminal(hit: Hit) -> None:
    """Print a hit: first a place that the terminal can open, then the handle."""
    from codelens.render.search_text import explained, reason_of, shortened

    whole = hit.kind == "file" or not hit.start_line
    lines = hit.handle.endswith(f"{hit.path}:{hit.start_line}-{hit.end_line}")
    path = os.path.join(hit.repository, hit.path)
    place = path if whole else hit.handle if lines else f"{path}:{hit.start_line}"
    parts = [place, hit.kind]
    if hit.signature:
        parts.append(shortened(text_pieces.one_line(hit.signature)))
    if reason := reason_of(hit):
        parts.append(f"({reason})")
    if hit.stale:
        parts.append("[stale]")
    screen.page("  ".join(parts))
    if place != hit.handle:
        # The handle has a separate line, since that of a heading contains blanks and brackets.
        screen.put(screen.styled(f"    {hit.handle}", "dim"))
    for handle in hit.also:
        screen.put(screen.styled(f"    {handle}", "dim"))
    if hit.explain is not None:
        screen.put(screen.styled(f"    {explained(hit)}", "dim"))
