"""`codelens save`, `load`, `forget`, `session` and `recover`: saved contexts and sessions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from codelens.cli import screen, shared_options, standard_streams
from codelens.cli.shared_options import asking, from_here
from codelens.errors import ReadError, SettingError
from codelens.render import context_text
from codelens.render.text_pieces import one_line

if TYPE_CHECKING:
    from codelens.answers.context_answers import LoadAnswer, TakenOver
    from codelens.cli.standard_streams import Bar
    from codelens.engine.engine import Engine


def add_save(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "save", "save a note with handles",
        "Keeps a note with handles under a name, for all worktrees and branches of this "
        "repository. `codelens load` finds it and shows which handles are still valid.",
    )  # fmt: skip
    parser.add_argument("name", help="the name to find it by, such as auth-flow")
    parser.add_argument(
        "handle", nargs="*", default=[],
        help="what the note is about: src/auth.py#Session.validate, src/auth.py:10-42, "
        "src/auth.py, a bare name, or REF:HANDLE; each must exist now",
    )  # fmt: skip
    parser.add_argument(
        "--note", default="", metavar="TEXT", help="the note; - reads it from stdin"
    )
    parser.add_argument(
        "--category", default="", metavar="WHAT",
        help="decision, pattern, bug_fix, architecture, convention, auto or note (default note)",
    )  # fmt: skip
    parser.add_argument(
        "--tag", action="append", default=[], metavar="TAG", dest="tags",
        help="a tag to filter by (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--pin", action=argparse.BooleanOptionalAction, default=None,
        help="never expires and is listed first",
    )  # fmt: skip
    parser.add_argument(
        "--ttl", default="", metavar="TIME",
        help="how long to show it: 12h, 30d, 2w, or never (the default)",
    )  # fmt: skip
    parser.add_argument(
        "--replace", action="store_true", help="replace the saved context with this name"
    )
    parser.add_argument(
        "--update", action="store_true",
        help="change only the given fields of the saved context with this name",
    )  # fmt: skip
    shared_options.add_view(parser)


def run_save(args: argparse.Namespace) -> int:
    """Save a context and print it."""
    note = standard_streams.stdin_text() if args.note == "-" else args.note
    with asking() as (engine, bar):
        answer = engine.save(
            args.name,
            note,
            [from_here(handle, args.path) for handle in args.handle],
            category=args.category,
            tags=args.tags,
            pinned=args.pin,
            ttl=args.ttl,
            replace=args.replace,
            update=args.update,
            **shared_options.view(args, engine, bar),
        )
    screen.show(answer, context_text.save_json, [context_text.saved(answer)], as_json=args.json)
    return 0


# `codelens load`.

_HERE = ""


def add_load(commands: shared_options.Commands) -> None:
    """Define the arguments."""
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
        help="add the contexts that `codelens export contexts` wrote; - reads stdin. Existing "
        "names are skipped",
    )  # fmt: skip
    parser.add_argument(
        "--replace", action="store_true", help="with --import, replace contexts of the same name"
    )
    parser.add_argument(
        "--adopt", nargs="?", const=_HERE, metavar="OLD_PLACE",
        help="take over the contexts saved before this repository was moved. Give its former "
        "folder if its history does not identify it, or a contexts file that was set aside",
    )  # fmt: skip
    shared_options.add_view(parser)


def run_load(args: argparse.Namespace) -> int:
    """Find contexts and print them; return 1 if none was found."""
    if args.file is not None and (args.query or args.adopt is not None):
        raise SettingError(
            "--import cannot be combined with a query or --adopt; load the contexts afterwards"
        )
    if args.replace and args.file is None:
        raise SettingError(
            "--replace requires --import; to replace one context use `codelens save --replace`"
        )
    with asking() as (engine, bar):
        if args.file is not None:
            taken = engine.import_contexts(
                _text_of(args.file), replace=args.replace, path=args.path
            )
            return _show_taken(taken, as_json=args.json)
        if args.adopt is not None:
            return _show_taken(engine.adopt(args.adopt, path=args.path), as_json=args.json)
        answer = _load(engine, bar, args)
        bar.stop()
        if answer.former and not answer.results and not args.json and _agreed(answer):
            _show_taken(engine.adopt(path=args.path), as_json=False)
            answer = _load(engine, bar, args)
    if args.json:
        screen.put_json(context_text.load_json(answer))
    else:
        narrowed = bool(args.query or args.category or args.tags or args.handle or args.status)
        screen.page(*context_text.blocks(answer))
        screen.say_all(answer.receipt, [*answer.notes, *_hints(answer, narrowed=narrowed)])
    return 0 if answer.results else 1


def _load(engine: Engine, bar: Bar, args: argparse.Namespace) -> LoadAnswer:
    return engine.load(
        " ".join(args.query),
        category=args.category,
        tags=args.tags,
        handle=from_here(args.handle, args.path) if args.handle else "",
        status=args.status,
        expired=args.expired,
        limit=args.limit,
        **shared_options.view(args, engine, bar),
    )


def _text_of(file: str) -> str:
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
    """Ask whether to take over contexts; no without a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    former = one_line(context_text.former(answer.former))
    standard_streams.remark(f"{former}. Take them over? [y/N]")
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _hints(answer: LoadAnswer, *, narrowed: bool) -> Iterator[str]:
    """What else there is, and how to show it."""
    if answer.more:
        yield f"{answer.more} more: give words, a filter such as --category, or a higher --limit"
    if answer.hidden:
        yield context_text.hidden(answer.hidden)
    if answer.former:
        former = context_text.former(answer.former)
        yield f"{former}: `codelens load --adopt` takes them over"
    elif not answer.results and not answer.hidden:
        nothing = "no saved context matches; `codelens load` lists all"
        yield nothing if narrowed else "nothing is saved"


def _show_taken(answer: TakenOver, *, as_json: bool) -> int:
    """Print the added contexts; return 1 if some were skipped."""
    screen.show(answer, asdict, context_text.taken_over(answer), as_json=as_json)
    if answer.refused and not as_json:
        screen.say("note: --replace uses the imported ones; or forget the existing ones first")
    return 1 if answer.refused else 0


# `codelens forget`.


def add_forget(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "forget", "delete saved contexts by name",
        "Deletes the contexts saved under these names, all or none; `codelens load` lists "
        "the names. No other command deletes a saved context.",
    )  # fmt: skip
    parser.add_argument("name", nargs="*", help="the name of a saved context")
    parser.add_argument(
        "--expired", action="store_true",
        help="all whose time to live has ended (`codelens load --expired` shows them)",
    )  # fmt: skip
    shared_options.add_json(parser)


def run_forget(args: argparse.Namespace) -> int:
    """Delete contexts and print their names."""
    with asking() as (engine, _):
        answer = engine.forget(args.name, expired=args.expired, path=args.path)
    screen.show(answer, asdict, context_text.forgotten(answer), as_json=args.json)
    return 0


# `codelens session`: shows the trail of a session.


def add_session(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "session", "show what a session looked at and edited",
        "Lists the calls of one session in this worktree, the latest last, with time, action and "
        "handles. Without an id, shows the session of the agent that runs the command, or else "
        "the last one here. The trail contains no code and is kept for 90 days.",
    )  # fmt: skip
    parser.add_argument("session", nargs="?", default="", help="the id of a session, or its end")
    parser.add_argument("--all", action="store_true", help="list all sessions in this worktree")
    shared_options.add_count(parser, "--limit", 40, "maximum number of calls")
    shared_options.add_json(parser)


def run_session(args: argparse.Namespace) -> int:
    """Print a trail; return 1 if none exists."""
    with asking() as (engine, _):
        answer = engine.session(args.session, every=args.all, limit=args.limit, path=args.path)
    if args.json:
        screen.put_json(context_text.session_json(answer))
    else:
        screen.page(*context_text.session(answer))
        for note in answer.notes:
            screen.say(f"note: {note}")
    return 0 if answer.calls or answer.sessions else 1


# `codelens recover`: shows what a session needs after its context was compacted.


def add_recover(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "recover", "show what a compacted session needs to continue",
        "Prints saved notes by category, what the session looked at and edited, changes on this "
        "branch since the session began, and work in other worktrees. From now on, code is sent "
        "in full again to sessions in this worktree.",
    )  # fmt: skip
    parser.add_argument(
        "session", nargs="?", default="",
        help="the id of a session, or its end (default: the session of the agent that runs the "
        "command, or else the last one here)",
    )  # fmt: skip
    shared_options.add_budget(parser)
    shared_options.add_json(parser)


def run_recover(args: argparse.Namespace) -> int:
    """Print the recovery; return 1 if it has neither calls nor saved contexts."""
    with asking() as (engine, bar):
        answer = engine.recover(args.session, **shared_options.limits(args, engine, bar))
    screen.show(answer, context_text.recover_json, context_text.recover(answer), as_json=args.json)
    return 0 if answer.calls or answer.saved else 1
