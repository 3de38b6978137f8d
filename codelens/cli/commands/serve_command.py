"""`codelens serve`: the MCP server, over stdin and stdout."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = commands.add_parser(
        "serve", help="run the MCP server on stdin and stdout",
        description="Runs the MCP server for agents on stdin and stdout. It ends when "
                    "stdin closes.",
        **shared_options.help_of("serve"), allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument(
        "--root", metavar="PATH",
        help="the worktree to use if a call names none; ignored if there is no such path, such "
        "as a host's unexpanded ${...}",
    )  # fmt: skip
    shared_options.add_budget(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serve until stdin closes."""
    from codelens.serve.serve_process import serve

    return serve(args.root, args.budget)
