"""The grammar of the command line: `parse` gives the arguments and the command's `run`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

from codelens import __version__
from codelens.cli import options
from codelens.cli.commands import expand, export, index, languages, outline, search, serve, status
from codelens.errors import CodelensError

_COMMANDS = (search, expand, outline, status, index, export, languages, serve)


class UsageError(CodelensError):
    """Arguments that do not fit together."""


class _Parser(argparse.ArgumentParser):
    """Reports errors as all of codelens does, in one line."""

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments."""
        raise UsageError(f"{message}; `{self.prog} --help` tells more")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The arguments of one command.

    Raises:
        UsageError: they cannot be understood.
        SystemExit: help was asked and printed.
    """
    parser = _Parser(
        prog="codelens",
        description="Search code, true for the branch and worktree you stand in.",
        epilog="Exit codes: 0 done or found, 1 nothing found, 2 error.",
        allow_abbrev=False,
    )
    parser.add_argument("-V", "--version", action="version", version=f"codelens {__version__}")
    options.add_path(parser)
    commands = parser.add_subparsers(
        metavar="COMMAND", required=True, dest="command", parser_class=_Parser
    )
    for command in _COMMANDS:
        command.add(commands)
    return parser.parse_args(arguments)
