"""`codelens load`: show saved contexts, and which of their handles are still valid."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from codelens.cli import shared_options, standard_streams
from codelens.cli.progress_bar import Bar
from codelens.cli.relative_handles import from_here

if TYPE_CHECKING:
    from codelens.answers.context_answers import LoadAnswer, TakenOver
    from codelens.engine.engine import Engine

_HERE = ""


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "load", "show saved contexts, and which of their handles are still valid",
        "Finds contexts by name, or by words of the name, note, tags and handles; without "
        "either, lists all. Each handle is current, moved (the same text elsewhere), "
        "changed or gone in the current worktree.",
    )  # fmt: skip
    parser.add_argument("query", nargs="*", help="a name, or words to search for")
    parser.add_argument("--category", default="", metavar="WHAT", help="only this category")
    parser.add_argument(
        "--tag", action="append", default=[], metavar="TAG", dest="tags",
        help="only with this tag (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--handle", default="", metavar="HANDLE",
        help="only contexts on this code: a handle, file, folder or name",
    )  # fmt: skip
    parser.add_argument(
        "--status", default="", metavar="STATUS",
        help="only contexts with a handle that is current, moved, changed, gone, unknown, or stale "
        "(changed or gone); valid: none is stale",
    )  # fmt: skip
    parser.add_argument("--expired", action="store_true", help="include expired contexts")
    shared_options.add_count(parser, "--limit", 20, "maximum number of contexts")
    parser.add_argument(
        "--import", metavar="FILE", dest="file",
        help="add the contexts that `codelens export contexts` wrote; - reads stdin. A name "
        "that is taken is skipped",
    )  # fmt: skip
    parser.add_argument(
        "--replace", action="store_true", help="with --import, replace contexts of the same name"
    )
    parser.add_argument(
        "--adopt", nargs="?", const=_HERE, metavar="OLD_PLACE",
        help="take over what was saved before this repository was moved. Give its former folder "
        "if its history does not identify it, or a contexts file that was set aside",
    )  # fmt: skip
    shared_options.add_view(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Look and print; 1 if nothing was found."""
    from codelens.engine.engine import Engine

    _refuse_mixed(args)
    with Engine() as engine:
        if args.file is not None:
            taken = engine.import_contexts(
                _text_of(args.file), replace=args.replace, path=args.path
            )
            return _show_taken(taken, as_object=args.json)
        if args.adopt is not None:
            return _show_taken(engine.adopt(args.adopt, path=args.path), as_object=args.json)
        answer = _asked(engine, args)
        if answer.former and not answer.results and not args.json and _agreed(answer):
            taken = engine.adopt(path=args.path)
            _show_taken(taken, as_object=False)
            answer = _asked(engine, args)
    narrowed = bool(args.query or args.category or args.tags or args.handle or args.status)
    _show(answer, as_object=args.json, narrowed=narrowed)
    return 0 if answer.results else 1


def _refuse_mixed(args: argparse.Namespace) -> None:
    from codelens.errors import SettingError

    if args.file is not None and (args.query or args.adopt is not None):
        raise SettingError(
            "--import cannot be combined with a query or --adopt; load the contexts afterwards"
        )
    if args.replace and args.file is None:
        raise SettingError(
            "--replace requires --import; to replace one context use `codelens save --replace`"
        )


def _asked(engine: Engine, args: argparse.Namespace) -> LoadAnswer:
    with Bar() as bar:
        return engine.load(
            " ".join(args.query),
            category=args.category,
            tags=args.tags,
            handle=from_here(args.handle, args.path) if args.handle else "",
            status=args.status,
            expired=args.expired,
            limit=args.limit,
            path=args.path,
            ref=args.ref,
            budget_ms=shared_options.budget_of(args, engine.settings),
            progress=bar,
        )


def _text_of(file: str) -> str:
    from codelens.errors import ReadError

    if file == "-":
        return standard_streams.stdin_text()
    try:
        with open(file, encoding="utf-8") as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ReadError(
            f"cannot read {file!r}: {why}; give a file written by `codelens export contexts`, or -"
        ) from error


def _agreed(answer: LoadAnswer) -> bool:
    """Ask, where somebody can answer."""
    from codelens.cli.standard_streams import remark
    from codelens.render.contexts_text import former
    from codelens.render.text_pieces import one_line

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    remark(f"{one_line(former(answer.former))}. Take them over? [y/N]")
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _show(answer: LoadAnswer, *, as_object: bool, narrowed: bool) -> None:
    from codelens.cli import screen

    if as_object:
        from codelens.render import contexts_json

        screen.put_json(contexts_json.load(answer))
        return
    from codelens.render import contexts_text

    screen.page(*contexts_text.blocks(answer))
    notes = list(answer.notes)
    if answer.more:
        notes.append(
            f"{answer.more} more: give words, a filter such as --category, or a higher --limit"
        )
    if answer.hidden:
        notes.append(contexts_text.hidden(answer.hidden))
    if answer.former:
        former_text = contexts_text.former(answer.former)
        notes.append(f"{former_text}: `codelens load --adopt` takes them over")
    elif not answer.results and not answer.hidden:
        nothing = "no saved context matches; `codelens load` lists all"
        notes.append(nothing if narrowed else "nothing is saved")
    screen.say_all(answer.receipt, notes)


def _show_taken(answer: TakenOver, *, as_object: bool) -> int:
    """Print what was added; 1 if some were left out."""
    from codelens.cli import screen

    if as_object:
        from codelens.render import contexts_json

        screen.put_json(contexts_json.taken_over(answer))
    else:
        from codelens.render import contexts_text

        screen.page(*contexts_text.taken_over(answer))
        for note in answer.notes:
            screen.say(f"note: {note}")
        if answer.refused:
            screen.say("note: --replace uses the imported ones; or forget the existing ones first")
    return 1 if answer.refused else 0
