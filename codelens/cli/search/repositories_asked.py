"""`codelens search --repository A --repository B`: several repositories, one list."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from codelens.cli import shared_options
from codelens.cli.exit_codes import DONE, FAILED, NOTHING
from codelens.cli.progress_bar import Bar

if TYPE_CHECKING:
    from codelens.answers.joint_answers import JointAnswer


def search(args: argparse.Namespace) -> int:
    """Search and print; 1 if there is nothing, 2 if none of them could be asked."""
    from codelens.engine.engine import Engine
    from codelens.errors import InvalidArgument

    if args.rerank == "on":
        raise InvalidArgument("rerank", "cannot be used with --repository; leave it out")
    with Engine() as engine, Bar() as bar:
        # `-C` is where relative paths are looked for.
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
        from codelens.render import token_budget
        from codelens.render.repositories import joint_text

        shaped = joint_text.as_json(answer)
        emit(f"{token_budget.fitted_json(shaped, 'results', args.max_tokens)}\n")
    else:
        _print(answer, args.max_tokens, explain=args.explain)
    if all(part.error for part in answer.repositories):
        return FAILED
    return DONE if answer.results else NOTHING


def _print(answer: JointAnswer, max_tokens: int | None, *, explain: bool) -> None:
    """Results on stdout; on stderr of each repository what it stands on, or why it failed."""
    from codelens.cli import screen
    from codelens.cli.search import terminal_hit
    from codelens.cli.standard_streams import fail
    from codelens.render import search_text, token_budget
    from codelens.render.repositories import joint_text
    from codelens.render.text_pieces import head_line

    blocks = [search_text.block(hit, detailed=explain) for hit in answer.results]
    fitted = token_budget.fitted(
        joint_text.head(answer, in_call=False), blocks,
        lambda left: search_text.left_out(left, 0, answer.left, typed=True), max_tokens,
    )  # fmt: skip
    if sys.stdout.isatty():
        for hit in answer.results[: len(fitted.blocks)]:
            terminal_hit.show(hit)
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
