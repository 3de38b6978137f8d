"""`codelens serve`: the MCP server, over stdin and stdout or over HTTP."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.errors import SettingError


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = commands.add_parser(
        "serve", help="run the MCP server, on stdin and stdout or over HTTP",
        description="Runs the MCP server for agents on stdin and stdout; it ends when stdin "
                    "closes. With --http it serves several agents at once on a port of this "
                    "machine, until it is stopped.",
        **shared_options.help_of("serve"), allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument(
        "--root", metavar="PATH", action="append", default=[],
        help="the worktree to use if a call names none; ignored if there is no such path, such "
        "as a host's unexpanded ${...}. With --http it may be given more than once, must be "
        "there, and the server answers about the repositories of these alone",
    )  # fmt: skip
    parser.add_argument(
        "--http", action="store_true",
        help="serve over HTTP; clients must send the token that is kept in CODELENS_HOME",
    )  # fmt: skip
    parser.add_argument(
        "--port",
        metavar="N",
        type=shared_options.port,
        help=f"with --http: the port (default: {shared_options.HTTP_PORT}; 0: any that is free)",
    )
    parser.add_argument(
        "--bind", metavar="ADDRESS",
        help="with --http: the address to listen on (default: 127.0.0.1, this machine alone)",
    )  # fmt: skip
    parser.add_argument(
        "--allow-host", metavar="NAME", action="append", default=[],
        help="with --http: one more name that clients may know the server by",
    )  # fmt: skip
    shared_options.add_budget(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serve until stdin closes, or with `--http` until a signal.

    Raises:
        SettingError: an option needs `--http`.
    """
    if args.http:
        return _over_http(args)
    for option, value in (
        ("--port", args.port is not None),
        ("--bind", args.bind is not None),
        ("--allow-host", args.allow_host),
        ("more than one --root", len(args.root) > 1),
    ):
        if value:
            raise SettingError(f"{option} needs --http; add it, or leave {option} out")
    from codelens.serve.serve_process import serve

    return serve(args.root[0] if args.root else None, args.budget)


def _over_http(args: argparse.Namespace) -> int:
    from codelens.cli import screen
    from codelens.serve.http.http_process import HttpServer

    server = HttpServer(
        args.root,
        args.bind or "127.0.0.1",
        shared_options.HTTP_PORT if args.port is None else args.port,
        args.allow_host,
        args.budget,
    )
    return server.run(screen.say)
