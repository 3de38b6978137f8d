"""`codelens serve`: the MCP server, over stdin and stdout or over HTTP."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.errors import SettingError


def add_serve(commands: shared_options.Commands) -> None:
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
    parser.set_defaults(run=run_serve)


def run_serve(args: argparse.Namespace) -> int:
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
    from codelens.serve.http_server import HttpServer

    server = HttpServer(
        args.root,
        args.bind or "127.0.0.1",
        shared_options.HTTP_PORT if args.port is None else args.port,
        args.allow_host,
        args.budget,
    )
    return server.run(screen.say)


# `codelens ui`: a page on loopback to explore a repository in a browser.

_LAST_PORT = 65_535


def add_ui(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "ui", "explore the repository in a browser, on a page served on this machine",
        "Serves a page on 127.0.0.1 and prints its address, which holds a secret that is new at "
        "each start. The page shows what the commands answer, and changes nothing. It ends "
        "with Ctrl-C.",
    )  # fmt: skip
    parser.add_argument(
        "--port", type=_port, default=0, metavar="N", help="port to listen on (default: a free one)"
    )
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument(
        "--editor", metavar="NAME",
        help="editor that links to code open: vscode (default), vscodium, cursor, windsurf, zed, "
        "idea, none, or an address with {path} and {line}",
    )  # fmt: skip
    parser.set_defaults(run=run_ui)


def run_ui(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from codelens.cli import screen, standard_streams
    from codelens.ui.page_process import serve_page

    def started(url: str, root: str) -> None:
        screen.put(url)
        standard_streams.flush()
        screen.say(f"showing {root}; Ctrl-C stops it")
        if args.open:
            import webbrowser

            if not webbrowser.open(url):
                screen.say("note: no browser could be started; open the address by hand")

    serve_page(args.path, args.port, args.editor, started)
    return 0


def _port(text: str) -> int:
    port = shared_options.natural(text)
    if port > _LAST_PORT:
        raise argparse.ArgumentTypeError(f"must be at most {_LAST_PORT}, not {text!r}")
    return port


# `codelens completion`: what a shell needs to complete commands, options and their values.

SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")
_REFS = "git for-each-ref --format='%(refname:short)' refs/heads refs/tags refs/remotes 2>/dev/null"


def add_completion(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = commands.add_parser(
        "completion", help="print the completion script of a shell",
        description="Prints a script with which a shell completes commands, options, files, git "
        "refs and the names of coding agents. Print it again after an update of codelens.",
        **shared_options.help_of("completion"), allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("shell", choices=SHELLS, help=", ".join(SHELLS), metavar="SHELL")
    parser.set_defaults(run=run_completion)


def run_completion(args: argparse.Namespace) -> int:
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
