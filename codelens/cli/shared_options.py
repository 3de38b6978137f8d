"""Options that several commands share, and handles that are relative to the working directory."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, TypedDict

from codelens.cli.command_examples import PAGED, examples_of
from codelens.cli.standard_streams import Bar

_LINES = re.compile(r":[0-9]+(?:-[0-9]+|:[0-9]+)?\Z")


def from_here(target: str, path: str, *, folders: bool = False) -> str:
    """Resolve a handle that is relative to the working directory.

    This applies if its path exists there or starts with a dot. Any other handle is returned
    unchanged: it is relative to the root of the worktree.

    Args:
        target: a handle, a file or a folder.
        path: the working directory, `-C`.
        folders: whether a single word may be a folder here instead of a name.
    """
    dotted = target in {".", ".."} or target.startswith(("./", "../", f".{os.sep}", f"..{os.sep}"))
    # Only the folder is escaped: in `target`, `#` and `:` separate the path from the rest.
    here = os.path.realpath(path)
    folder = here if os.path.isdir(here) else os.path.dirname(here)
    if dotted:
        return f"{_shown(os.path.join(folder, ''))}{target}"
    if not _is_here(target, folder, folders):
        return target
    top = folder
    while not os.path.exists(os.path.join(top, ".git")):
        above = os.path.dirname(top)
        if above == top:
            return f"{_shown(os.path.join(folder, ''))}{target}"
        top = above
    within = os.path.relpath(folder, top).replace(os.sep, "/")
    return target if within == "." else f"{_shown(within)}/{target}"


def standing_at(path: str, targets: Sequence[str]) -> str:
    """The path to ask about: `-C`, else the worktree that contains the absolute handles."""
    if path != "." or not all(map(_is_absolute, targets)):
        return path
    from codelens.engine.worktree_paths import common_worktree

    return common_worktree(targets) or path


def _is_absolute(target: str) -> bool:
    return os.path.isabs(target.rpartition(":")[2]) or os.path.isabs(target)


def _shown(path: str) -> str:
    from codelens.paths import printed

    return printed(os.fsencode(path))


def _is_here(target: str, folder: str, folders: bool) -> bool:
    named = _LINES.sub("", target.partition("#")[0])
    if not named or "\0" in named or os.path.isabs(named):
        return False
    there = os.path.join(folder, named)
    if os.path.isfile(there):
        return True
    return os.path.isdir(there) and (folders or "/" in named)


if TYPE_CHECKING:
    from codelens.engine.engine import Engine

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # type: ignore[reportPrivateUsage]


HTTP_PORT = 3100
"""The default port of `codelens serve --http`."""
_LARGEST_PORT = 65535


def port(text: str) -> int:
    """Parse a port.

    Raises:
        ArgumentTypeError: the text is not a port.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and int(text) <= _LARGEST_PORT):
        raise argparse.ArgumentTypeError(
            f"must be a whole number from 0 to {_LARGEST_PORT}, not {text[:50]!r}"
        )
    return int(text)


class HelpFormatter(argparse.HelpFormatter):
    """Wraps descriptions, but not examples."""

    def __init__(self, prog: str) -> None:
        # argparse creates a formatter for each option and would call `shutil` each time.
        super().__init__(prog, width=_columns() - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:"):
            return text
        return super()._fill_text(text, width, indent)


@cache
def _columns() -> int:
    """The width of the terminal."""
    return shutil.get_terminal_size().columns


class _Help(TypedDict):
    epilog: str
    formatter_class: type[argparse.HelpFormatter]


def help_of(name: str) -> _Help:
    """Parser arguments that put a command's examples at the end of its help."""
    return {"epilog": examples_of(name), "formatter_class": HelpFormatter}


def command(
    commands: Commands, name: str, summary: str, description: str = ""
) -> argparse.ArgumentParser:
    """Add a command with the options that all commands have."""
    parser = commands.add_parser(
        name, help=summary, description=description or f"{summary[:1].upper()}{summary[1:]}.",
        **help_of(name), allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument(
        "-C", dest="path", metavar="PATH", default=argparse.SUPPRESS,
        help="any path inside the worktree to use (default: the working directory)",
    )  # fmt: skip
    if name in PAGED:
        parser.add_argument(
            "--no-pager", action="store_true", default=argparse.SUPPRESS,
            help="print a long answer instead of showing it in the pager",
        )  # fmt: skip
    return parser


def add_path_and_pager(parser: argparse.ArgumentParser) -> None:
    """Accept `-C` and `--no-pager` before the command, as git does.

    Those after the command take precedence.
    """
    parser.add_argument("-C", dest="path", metavar="PATH", default=".", help=argparse.SUPPRESS)
    parser.add_argument("--no-pager", action="store_true", help=argparse.SUPPRESS)


def add_session(parser: argparse.ArgumentParser) -> None:
    """`--session` and `--again`."""
    parser.add_argument(
        "--session", default="", metavar="ID",
        help="omit code that was already printed with this id and has not changed",
    )  # fmt: skip
    parser.add_argument(
        "--again", action="store_true", help="with --session, print that code again"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """`--json`."""
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")


def add_ref(parser: argparse.ArgumentParser) -> None:
    """`--ref`."""
    parser.add_argument(
        "--ref", metavar="REF", help="a branch, tag or commit to read instead of the files on disk"
    )


def add_view(parser: argparse.ArgumentParser) -> None:
    """Add `--ref`, `--budget` and `--json`."""
    add_ref(parser)
    add_budget(parser)
    add_json(parser)


def add_count(parser: argparse.ArgumentParser, option: str, default: int, help_text: str) -> None:
    """Add an option that takes a whole number of at least 1.

    Args:
        parser: the parser of the command.
        option: the option, such as `--limit`.
        default: its value if it is not given.
        help_text: the help, without the default.
    """
    parser.add_argument(
        option, type=positive, default=default, metavar="N", help=f"{help_text} (default {default})"
    )


def add_filters(parser: argparse.ArgumentParser) -> None:
    """`--lang`, `--glob` and `--kind`."""
    parser.add_argument(
        "--lang", action="append", default=[], metavar="NAME",
        help="only this language (repeatable; `codelens languages` lists them)",
    )  # fmt: skip
    parser.add_argument(
        "--glob", action="append", default=[], metavar="GLOB",
        help="only matching paths; !GLOB excludes (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--kind", action="append", default=[], metavar="KIND",
        help="only this kind of definition: function, class, ... (repeatable)",
    )  # fmt: skip


def add_budget(parser: argparse.ArgumentParser) -> None:
    """`--budget`."""
    parser.add_argument(
        "--budget", metavar="MS", type=milliseconds,
        help="answer after about this many milliseconds, even if not all files were checked",
    )  # fmt: skip


@contextmanager
def asking() -> Generator[tuple[Engine, Bar]]:
    """Open an engine, and a bar for its progress."""
    from codelens.engine.engine import Engine

    with Engine() as engine, Bar() as bar:
        yield engine, bar


class Limits(TypedDict):
    """Arguments of the engine's methods: what to ask about, for how long, and the progress."""

    path: str
    budget_ms: float | None
    progress: Bar


class View(Limits):
    """The same for methods that can read a ref."""

    ref: str | None


class Filtered(View):
    """The same for methods that take filters."""

    languages: list[str]
    globs: list[str]
    kinds: list[str]


def limits(args: argparse.Namespace, engine: Engine, bar: Bar) -> Limits:
    """The path and the budget, for the engine.

    The CPU time of this process so far is subtracted from the budget, but at least half remains.
    """
    budget_ms = engine.settings.budget_ms if args.budget is None else args.budget
    if budget_ms is not None:
        budget_ms = max(budget_ms - time.process_time() * 1000, budget_ms / 2)
    return {"path": args.path, "budget_ms": budget_ms, "progress": bar}


def view(args: argparse.Namespace, engine: Engine, bar: Bar) -> View:
    """The path, the ref and the budget, for the engine."""
    return {**limits(args, engine, bar), "ref": args.ref}


def filtered(args: argparse.Namespace, engine: Engine, bar: Bar) -> Filtered:
    """The path, the ref, the filters and the budget, for the engine."""
    return {
        **view(args, engine, bar),
        "languages": args.lang, "globs": args.glob, "kinds": args.kind,
    }  # fmt: skip


def milliseconds(text: str) -> float:
    """Parse a number of milliseconds of at least 0.

    Raises:
        argparse.ArgumentTypeError: the text is not such a number.
    """
    return _not_negative(text, "milliseconds")


def days(text: str) -> float:
    """Parse a number of days of at least 0.

    Raises:
        argparse.ArgumentTypeError: the text is not such a number.
    """
    return _not_negative(text, "days")


def _not_negative(text: str, unit: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of {unit}, 0 or more, not {text!r}")
    return value


def positive(text: str) -> int:
    """Parse a whole number of at least 1."""
    return _whole(text, 1)


def natural(text: str) -> int:
    """Parse a whole number of at least 0."""
    return _whole(text, 0)


def _whole(text: str, least: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(
            f"must be a whole number of at least {least}, not {text!r}"
        )
    return value
