"""`codelens hook`: what coding agents call; `cli.main` answers it before all else."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options


def add(commands: shared_options.Commands) -> None:
    """Its arguments; here for the help alone, and for options that stand before the command."""
    parser = commands.add_parser(
        "hook", help="for coding agents: answer a hook event (`install --hooks` sets it up)",
        description="Reads the host's JSON on stdin. On any error the exit code is 0 and nothing "
        "is printed; logs/hooks.log under CODELENS_HOME has the error.",
        **shared_options.help_of("hook"), allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument(
        "event", help="prompt, session-start, stop, before-edit, after-tool or before-compact"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Answer one event; 0, always."""
    from codelens.hooks import hook_run

    return hook_run.run([args.event])
