"""`codelens expand`: the text that handles name, read now."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from codelens.cli import shared_options, standard_streams
from codelens.cli.relative_handles import from_here, standing_at
from codelens.cli.standard_streams import emit

if TYPE_CHECKING:
    from codelens.answers.reading_answers import Excerpt


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "expand", "print the code that handles name, as it is on disk or in git",
        "Prints the text that each handle names, as it is now. A symbol that moved is followed.",
    )  # fmt: skip
    parser.add_argument(
        "handle", nargs="+",
        help="src/auth.py#Session.validate, src/auth.py:10-42, src/auth.py, a bare name, or "
        "REF:HANDLE; - reads handles from stdin, one per line",
    )  # fmt: skip
    parser.add_argument(
        "--context", type=shared_options.natural, default=0, metavar="N",
        help="number of context lines before and after",
    )  # fmt: skip
    shared_options.add_count(parser, "--max-lines", 400, "maximum number of lines for each handle")
    parser.add_argument("-n", "--line-number", action="store_true", help="number the lines")
    parser.add_argument(
        "--signatures", action="store_true", help="declarations without bodies, one per line"
    )
    shared_options.add_session(parser)
    shared_options.add_view(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read and print; 2 if a handle could not be followed."""
    from dataclasses import replace

    from codelens.cli import screen
    from codelens.cli.standard_streams import fail
    from codelens.engine.engine import Engine

    handles = [
        handle
        for argument in args.handle
        for handle in (_from_stdin() if argument == "-" else [argument])
    ]
    args.path = standing_at(args.path, handles)
    with Engine() as engine, engine.as_session(args.session):
        answer = engine.expand(
            [from_here(handle, args.path) for handle in handles],
            path=args.path,
            ref=args.ref,
            context=args.context,
            max_lines=args.max_lines,
            signatures=args.signatures,
            again=args.again,
            budget_ms=shared_options.budget_of(args, engine.settings),
        )
        typed = {from_here(handle, args.path): handle for handle in handles}
        items = tuple(
            replace(excerpt, asked=typed.get(excerpt.asked, excerpt.asked))
            for excerpt in answer.items
        )
        answer = replace(answer, items=items)
        if args.json:
            from codelens.render import reading_json

            screen.put_json(reading_json.expand(answer))
        else:
            titled = len(answer.items) > 1 or sys.stdout.isatty()
            for item in answer.items:
                if not item.error:
                    _show(item, titled=titled, with_numbers=args.line_number)
        engine.note_sent(answer)
    failed = [item for item in answer.items if item.error]
    for excerpt in failed:
        fail(excerpt.error)
    if not args.json:
        from codelens.render import saved_note_lines

        remarks = [*answer.notes, *saved_note_lines.all_named(answer.contexts)]
        screen.say_all(answer.receipt, remarks)
    return 2 if failed else 0


def _from_stdin() -> list[str]:
    return [line.rstrip("\r") for line in standard_streams.stdin_text().split("\n") if line.strip()]


def _show(excerpt: Excerpt, *, titled: bool, with_numbers: bool) -> None:
    from codelens.cli.screen import put, say, styled
    from codelens.render import expand_text
    from codelens.render.text_pieces import lines_of, safe

    if excerpt.moved:
        say(f"note: {excerpt.moved}")
    if titled:
        lines = lines_of(excerpt.start_line, excerpt.end_line)
        put(f"{styled('==>', 'dim')} {styled(f'{excerpt.path}:{lines}', 'path')}  {excerpt.handle}")
    # A terminal would obey control characters in a text; a file or a program gets it as it is.
    text = safe(excerpt.text) if sys.stdout.isatty() else excerpt.text
    if with_numbers:
        text = expand_text.numbered(excerpt, text, lambda number: styled(number, "dim"))
    emit(text if text.endswith("\n") or not text else f"{text}\n")
    for note in expand_text.page_notes(excerpt):
        say(f"note: {note}")
