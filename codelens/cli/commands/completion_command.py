"""`codelens completion`: what a shell needs to complete commands, options and their values."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options

SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")
_REFS = "git for-each-ref --format='%(refname:short)' refs/heads refs/tags refs/remotes 2>/dev/null"


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = commands.add_parser(
        "completion", help="print the completion script of a shell",
        description="Prints a script with which a shell completes commands, options, files, git "
        "refs and the names of coding agents. Print it again after an update of codelens.",
        **shared_options.help_of("completion"), allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("shell", choices=SHELLS, help=", ".join(SHELLS), metavar="SHELL")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    import shtab

    from codelens.cli.argument_parser import grammar
    from codelens.cli.standard_streams import emit

    parser, commands = grammar()
    for argument_parser in (parser, *commands.values()):
        _say_what_values_are(argument_parser)
    emit(shtab.complete(parser, args.shell).rstrip("\n") + "\n")
    return 0


def _say_what_values_are(parser: argparse.ArgumentParser) -> None:
    """Note at each argument what it takes, for `shtab`."""
    import shtab

    from codelens.hosts.host_descriptor import hosts

    values = {
        "path": shtab.DIRECTORY,
        **dict.fromkeys(("handle", "target", "to", "focus", "file", "program"), shtab.FILE),
        **dict.fromkeys(("ref", "others", "base", "spec", "diff", "view"), shtab.cmd(_REFS)),
    }
    for action in parser._actions:  # argparse has no other way to them
        if action.dest in values and action.choices is None:
            action.complete = values[action.dest]  # type: ignore[attr-defined]
        elif action.dest == "host":
            action.choices = ("detected", "all", *hosts())
