"""Parses the command line: `parse` returns the arguments, with the command's function in `run`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from codelens import __version__
from codelens.cli import shared_options, standard_streams
from codelens.cli.command_examples import COMMANDS, MODULES
from codelens.errors import CodelensError

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

_UNKNOWN = "unrecognized arguments"
_MISSING = "the following arguments are required"
_NO_COMMAND = "argument COMMAND: invalid choice: "
_CHOICE = re.compile(
    r"argument [^:]+: invalid choice: '(?P<value>.*)' \(choose from (?P<choices>.*)\)"
)
_VALUE = re.compile(r"^argument ([^:]+): must be")
"""How argparse starts the error of a value that one of our type functions rejects."""
_OPTION = re.compile(r"--[a-z][a-z-]*")


class UsageError(CodelensError):
    """The arguments are invalid or cannot be combined."""


class _Parser(argparse.ArgumentParser):
    """Reports errors in one line, as codelens does; accepts words and options in any order."""

    _is_mixing = False

    def parse_known_args(  # type: ignore[reportIncompatibleMethodOverride]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Accept a list of words (`HANDLE...`) that continues after an option.

        argparse alone ends such a list at the first option after it.
        """
        arguments, extras = super().parse_known_args(args, namespace or argparse.Namespace())
        if not extras or self._is_mixing or self._subparsers is not None:
            return arguments, extras
        self._is_mixing = True
        try:
            return self.parse_known_intermixed_args(args, argparse.Namespace())
        finally:
            self._is_mixing = False

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """Print help; argparse alone would ignore an error of writing it."""
        standard_streams.emit(message)

    def error(self, message: str) -> NoReturn:
        """Reject the arguments."""
        plain = _VALUE.sub(r"\1 must be", message)
        raise UsageError(f"{plain}; run `{self.prog} --help` for details")


def grammar(
    names: Sequence[str] = COMMANDS,
) -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """Build the parser and the parsers of the commands; completion and the man page use them too.

    Args:
        names: the commands to include; building the parsers of all takes 15 ms.
    """
    parser = _Parser(
        prog="codelens",
        description="Search the code of the branch and worktree you are in.",
        epilog="`codelens help COMMAND` shows the options of a command, with examples. Exit "
        "codes: 0 done or found, 1 nothing found, 2 error.",
        allow_abbrev=False,
        formatter_class=shared_options.HelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"codelens {__version__}")
    shared_options.add_path_and_pager(parser)
    commands = parser.add_subparsers(
        metavar="COMMAND",
        required=True,
        dest="command",
        parser_class=_Parser,
        title="commands",
        # By default, argparse formats a usage message to get it.
        prog="codelens",
    )
    for name in names:
        module = import_module(f"codelens.cli.commands.{MODULES[name]}")
        getattr(module, f"add_{name}")(commands)
        commands.choices[name].set_defaults(run=getattr(module, f"run_{name}"))
    return parser, commands.choices


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of one command.

    Raises:
        UsageError: the arguments are invalid.
        SystemExit: help was requested and printed.
    """
    if arguments[:1] and arguments[0] in COMMANDS:
        # The parser of all commands below reports an error.
        with suppress(UsageError):
            return grammar(arguments[:1])[0].parse_args(arguments)
    parser, commands = grammar()
    try:
        return parser.parse_args(arguments)
    except UsageError as error:
        problem = str(error).rpartition("; ")[0]
        if problem.startswith(_NO_COMMAND):
            raise _no_command(problem, commands) from error
        choice = _CHOICE.fullmatch(problem)
        if choice:
            raise UsageError(_no_choice(choice, str(error))) from error
        command = next((argument for argument in arguments if argument in commands), "")
        if not command or not problem.startswith((_UNKNOWN, _MISSING)):
            raise
        raise UsageError(_not_taken(problem, arguments, commands[command])) from error


def _no_command(problem: str, commands: Iterable[str]) -> UsageError:
    word = problem.removeprefix(_NO_COMMAND).partition(" (choose from")[0].strip("'\"")
    import difflib

    near = difflib.get_close_matches(word, commands, 2, 0.7)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return UsageError(f"unknown command {word[:50]!r}; {hint}`codelens --help` lists them")


def _no_choice(match: re.Match[str], message: str) -> str:
    """The message for an invalid choice, with the closest valid one."""
    import difflib

    near = difflib.get_close_matches(match["value"], re.findall(r"[\w-]+", match["choices"]), 1)
    head, _, tail = message.rpartition("; ")
    return f"{head}; did you mean {near[0]}? {tail}" if near else message


def _not_taken(problem: str, arguments: Sequence[str], parser: argparse.ArgumentParser) -> str:
    """The message for an unknown option or a missing argument, with the closest option."""
    message = f"{problem}; run `{parser.prog} --help` for details"
    dashed = [argument for argument in arguments if argument.startswith("-")]
    if problem.startswith(_UNKNOWN):
        dashed = [option for option in dashed if option in problem.split()]
    if not dashed or "--" in arguments:
        return message
    import difflib

    near = difflib.get_close_matches(dashed[0], _OPTION.findall(parser.format_usage()), 1)
    if near == dashed[:1] and problem.startswith(_UNKNOWN):
        return f"{near[0]} must come after the command: `{parser.prog} ... {near[0]}`"
    if near and problem.startswith(_UNKNOWN):
        return f"{problem}; did you mean {near[0]}? run `{parser.prog} --help` for details"
    return f"{message}; to search for {dashed[0]!r} as text, put -- before it"
