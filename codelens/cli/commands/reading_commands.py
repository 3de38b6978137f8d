"""`codelens expand`, `outline`, `explore`, `map` and `languages`: commands that show code."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, replace
from itertools import chain
from typing import TYPE_CHECKING

from codelens.capsule import INTENTS
from codelens.cli import screen, shared_options, standard_streams
from codelens.cli.shared_options import asking, from_here, standing_at
from codelens.cli.standard_streams import emit
from codelens.errors import SettingError
from codelens.render import explore_text, graph_text, map_pictures, reading_text, text_pieces

if TYPE_CHECKING:
    from codelens.answers.reading_answers import Excerpt


def add_expand(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "expand", "print the code of handles, from disk or from git",
        "Prints the current text of each handle. A symbol that moved is followed.",
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
        "--signatures", action="store_true", help="print declarations without bodies, one per line"
    )
    shared_options.add_session(parser)
    shared_options.add_view(parser)


def run_expand(args: argparse.Namespace) -> int:
    """Print the code; return 2 if a handle could not be resolved."""
    handles = [
        handle
        for argument in args.handle
        for handle in (_from_stdin() if argument == "-" else [argument])
    ]
    args.path = standing_at(args.path, handles)
    with asking() as (engine, bar), engine.as_session(args.session):
        answer = engine.expand(
            [from_here(handle, args.path) for handle in handles],
            context=args.context,
            max_lines=args.max_lines,
            signatures=args.signatures,
            again=args.again,
            **shared_options.view(args, engine, bar),
        )
        bar.stop()
        typed = {from_here(handle, args.path): handle for handle in handles}
        items = tuple(
            replace(excerpt, asked=typed.get(excerpt.asked, excerpt.asked))
            for excerpt in answer.items
        )
        answer = replace(answer, items=items)
        if args.json:
            screen.put_json(reading_text.expand_json(answer))
        else:
            titled = len(answer.items) > 1 or sys.stdout.isatty()
            for item in answer.items:
                if not item.error:
                    _show(item, titled=titled, with_numbers=args.line_number)
        engine.note_sent(answer)
    failed = [item for item in answer.items if item.error]
    for excerpt in failed:
        standard_streams.fail(excerpt.error)
    if not args.json:
        remarks = [*answer.notes, *text_pieces.all_notes_named(answer.contexts)]
        screen.say_all(answer.receipt, remarks)
    return 2 if failed else 0


def _from_stdin() -> list[str]:
    """The handles on stdin; indented lines are skipped, such as the `also` lines of a search."""
    lines = (line.rstrip("\r") for line in standard_streams.stdin_text().split("\n"))
    return [line for line in lines if line and not line[0].isspace()]


def _show(excerpt: Excerpt, *, titled: bool, with_numbers: bool) -> None:
    if excerpt.moved:
        screen.say(f"note: {excerpt.moved}")
    if titled:
        lines = text_pieces.lines_of(excerpt.start_line, excerpt.end_line)
        arrow, place = screen.styled("==>", "dim"), f"{excerpt.path}:{lines}"
        screen.put(f"{arrow} {screen.styled(place, 'path')}  {excerpt.handle}")
    # Control characters could control a terminal; a file or a program gets the text unchanged.
    text = text_pieces.safe(excerpt.text) if sys.stdout.isatty() else excerpt.text
    if with_numbers:
        text = reading_text.numbered(excerpt, text, lambda number: screen.styled(number, "dim"))
    emit(text if text.endswith("\n") or not text else f"{text}\n")
    for note in reading_text.page_notes(excerpt):
        screen.say(f"note: {note}")


# `codelens outline`.


def add_outline(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "outline", "list the definitions of a file or folder",
        "Lists the definitions of a file or folder with lines, signatures and first lines of "
        "docs, and shows how many tokens it would cost to read all of it.",
    )  # fmt: skip
    parser.add_argument(
        "target", nargs="?", default=None,
        help="a file, folder or handle (default: the whole worktree), relative to the "
        "worktree's root, or with ./ to the current folder",
    )  # fmt: skip
    parser.add_argument(
        "--detail", choices=("names", "signatures", "docs"), default="docs",
        help="what to show for each definition (default docs: signature and first line of its doc)",
    )  # fmt: skip
    shared_options.add_view(parser)


def run_outline(args: argparse.Namespace) -> int:
    """Print the outline; return 1 if it is empty."""
    args.path = standing_at(args.path, [args.target or "."])
    target = "." if args.target is None else from_here(args.target, args.path, folders=True)
    with asking() as (engine, bar):
        answer = engine.outline(
            target, detail=args.detail, **shared_options.view(args, engine, bar)
        )
    screen.show(
        answer, reading_text.outline_json, reading_text.outline_lines(answer), as_json=args.json
    )
    return 0 if answer.files or answer.folders else 1


# `codelens explore`.


def add_explore(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "explore", "show the code that a task needs, within a token limit",
        "Prints the definitions to change or read for a task, with line numbers, what they "
        "use or what uses them, and the tests. Describe the task in as much detail as you "
        "can.",
    )  # fmt: skip
    parser.add_argument(
        "task", nargs="+", help="the task; handles, paths and stack traces in it are used"
    )
    parser.add_argument(
        "--max-tokens", type=shared_options.positive, metavar="N",
        help="fill so many tokens (bytes / 3); by default about 3,000: the code that the task "
        "most likely needs, and the names of more",
    )  # fmt: skip
    parser.add_argument(
        "--intent",
        choices=tuple(INTENTS),
        help="which neighbours matter (default: derived from the task's words)",
    )
    shared_options.add_filters(parser)
    shared_options.add_session(parser)
    shared_options.add_view(parser)


def run_explore(args: argparse.Namespace) -> int:
    """Print the code of a task; return 1 if nothing was found."""
    with asking() as (engine, bar), engine.as_session(args.session):
        answer = engine.explore(
            " ".join(args.task),
            max_tokens=args.max_tokens,
            intent=args.intent,
            again=args.again,
            **shared_options.filtered(args, engine, bar),
        )
        bar.stop()
        if args.json:
            text, printed = explore_text.fitted_json(
                answer, args.max_tokens or explore_text.MOST_TOKENS
            )
            emit(f"{text}\n")
        else:
            printed = answer
            screen.page(*explore_text.body(answer, typed=True))
            screen.say_all(answer.receipt, answer.notes)
        engine.note_sent(printed)
    return 0 if answer.pieces else 1


# `codelens map`.

_TEXT_TOKENS, _PICTURE_TOKENS = 2000, 6000


def add_map(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "map", "show the repository at a glance: main files, their users, entry points",
        "Ranks files by how much other files use them, and shows their main definitions, "
        "entry points and languages within a token limit. A focus or a query centers the map.",
    )  # fmt: skip
    parser.add_argument("focus", nargs="*", help="handles, files or folders to center the map on")
    parser.add_argument(
        "--query", default="", metavar="WORDS", help="center the map on what this query finds"
    )
    parser.add_argument(
        "--max-tokens", type=shared_options.positive, metavar="N",
        help="maximum size in tokens (default 2000; 6000 for pictures, which show the same "
        "files)",
    )  # fmt: skip
    parser.add_argument(
        "--format", choices=("text", "json", "mermaid", "dot", "html"),
        help="output format (default: text); html is one page that needs no network",
    )  # fmt: skip
    shared_options.add_view(parser)


def run_map(args: argparse.Namespace) -> int:
    """Print the map; return 1 if there is no code."""
    form: str = args.format or ("json" if args.json else "text")
    if args.json and form != "json":
        raise SettingError(f"--json and --format {form} cannot be combined; give one")
    picture = map_pictures.FORMS.get(form)
    with asking() as (engine, bar):
        answer = engine.map(
            [from_here(focus, args.path) for focus in args.focus],
            query=args.query,
            max_tokens=args.max_tokens or (_PICTURE_TOKENS if picture else _TEXT_TOKENS),
            **shared_options.view(args, engine, bar),
        )
    if picture is None:
        lines = chain.from_iterable(graph_text.map_(answer))
        screen.show(answer, graph_text.map_json, lines, as_json=form == "json")
    else:
        screen.put(picture(answer))
        screen.say_all(answer.receipt, [*answer.notes, *map_pictures.undrawn(answer, form)])
    return 0 if answer.files else 1


# `codelens languages`.


def add_languages(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = commands.add_parser(
        "languages", help="list the supported languages, their file names, and what is extracted",
        description="Lists the supported languages and what is extracted: definitions, headings, "
        "references, imports, docs, embedded code. Any other text can be searched by its words.",
        **shared_options.help_of("languages"), allow_abbrev=False,
    )  # fmt: skip
    shared_options.add_json(parser)


def run_languages(args: argparse.Namespace) -> int:
    """Print the languages."""
    from codelens.engine.reading.language_list import languages

    language_lines = languages()
    if args.json:
        screen.put_json(
            reading_text.results_json([asdict(language) for language in language_lines])
        )
        return 0
    width = max(len(language.name) for language in language_lines)
    wide = max(len(", ".join(language.gives)) for language in language_lines)
    rows: list[str] = []
    for language in language_lines:
        stems = (f"{stem}.*" for stem in language.stems)
        contested = (f"{extension}?" for extension in language.contested)
        names = " ".join((*language.extensions, *contested, *language.filenames, *stems))
        gives = ", ".join(language.gives) or "words only, as for any other text"
        rows.append(f"{language.name:<{width}}  {gives:<{wide}}  {names}")
    screen.page(*rows)
    return 0
