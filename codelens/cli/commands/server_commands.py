"""`codelens serve`, `codelens ui` and `codelens completion`."""

from __future__ import annotations

import argparse

from codelens.cli import screen, shared_options, standard_streams
from codelens.errors import SettingError


def add_serve(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = commands.add_parser(
        "serve", help="run the MCP server, on stdin and stdout or over HTTP",
        description="Runs the MCP server for agents on stdin and stdout; it ends when stdin "
                    "closes. With --http it serves several agents at once on a port of this "
                    "machine, until it is stopped.",
        **shared_options.help_of("serve"), allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument(
        "--root", metavar="PATH", action="append", default=[],
        help="the worktree to use if a call names none; ignored if the path does not exist, such "
        "as a host's unexpanded ${...}. With --http it is repeatable and must exist, and the "
        "server answers only about the repositories of these paths",
    )  # fmt: skip
    parser.add_argument(
        "--http", action="store_true",
        help="serve over HTTP; clients must send the token stored in CODELENS_HOME",
    )  # fmt: skip
    parser.add_argument(
        "--port",
        metavar="N",
        type=shared_options.port,
        help=f"with --http: the port (default: {shared_options.HTTP_PORT}; 0: any free port)",
    )
    parser.add_argument(
        "--bind", metavar="ADDRESS",
        help="with --http: the address to listen on (default: 127.0.0.1, only this machine)",
    )  # fmt: skip
    parser.add_argument(
        "--allow-host", metavar="NAME", action="append", default=[],
        help="with --http: another host name that clients may use for the server (repeatable)",
    )  # fmt: skip
    shared_options.add_budget(parser)


def run_serve(args: argparse.Namespace) -> int:
    """Serve until stdin closes or, with `--http`, until a signal.

    Raises:
        SettingError: an option requires `--http`.
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
    from codelens.serve.http_server import HttpServer

    server = HttpServer(
        args.root,
        args.bind or "127.0.0.1",
        shared_options.HTTP_PORT if args.port is None else args.port,
        args.allow_host,
        args.budget,
    )
    return server.run(screen.say)


# `codelens ui`.


def add_ui(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "ui", "explore the repository in a browser, on a page served on this machine",
        "Serves a page on 127.0.0.1 and prints its address, which contains a secret. The address "
        "of a worktree stays the same, so that links to the page work after the next start. The "
        "page shows the same answers as the commands and changes nothing. Ctrl-C stops it.",
    )  # fmt: skip
    parser.add_argument(
        "--port", type=shared_options.port, metavar="N",
        help="port to listen on; 0: a free one (default: always the same for a worktree)",
    )  # fmt: skip
    parser.add_argument(
        "--once", action="store_true",
        help="use a free port and a new secret, which end with this start",
    )  # fmt: skip
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument(
        "--editor", metavar="NAME",
        help="editor in which links open code: vscode (default), vscodium, cursor, windsurf, zed, "
        "idea, none, or a URL with {path} and {line}",
    )  # fmt: skip


def run_ui(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from codelens.ui.page_process import serve_page

    def started(url: str, root: str, note: str) -> None:
        screen.put(url)
        standard_streams.flush()
        if note:
            screen.say(f"note: {note}")
        screen.say(f"showing {root}; Ctrl-C stops it")
        if args.open:
            import webbrowser

            if not webbrowser.open(url):
                screen.say("note: no browser could be started; open the address by hand")

    serve_page(args.path, started, port=args.port, once=args.once, editor=args.editor)
    return 0


# `codelens completion`.

SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")
_REFS = "git for-each-ref --format='%(refname:short)' refs/heads refs/tags refs/remotes 2>/dev/null"


def add_completion(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = commands.add_parser(
        "completion", help="print the completion script of a shell",
        description="Prints a script that lets a shell complete commands, options, files, git "
        "refs and names of coding agents. Print it again after each update of codelens.",
        **shared_options.help_of("completion"), allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("shell", choices=SHELLS, help=", ".join(SHELLS), metavar="SHELL")


def run_completion(args: argparse.Namespace) -> int:
    """Print the script."""
    import shtab

    from codelens.cli.argument_parser import grammar

    parser, commands = grammar()
    for argument_parser in (parser, *commands.values()):
        _set_value_kinds(argument_parser)
    standard_streams.emit(shtab.complete(parser, args.shell).rstrip("\n") + "\n")
    return 0


def _set_value_kinds(parser: argparse.ArgumentParser) -> None:
    """Set the kind of value that each argument takes, for `shtab`."""
    import shtab

    from codelens.hosts.host_descriptor import hosts

    values = {
        "path": shtab.DIRECTORY,
        **dict.fromkeys(("handle", "target", "to", "focus", "file", "program"), shtab.FILE),
        **dict.fromkeys(("ref", "others", "base", "spec", "diff", "view"), shtab.cmd(_REFS)),
    }
    for action in parser._actions:  # argparse has no public access to them
        if action.dest in values and action.choices is None:
            action.complete = values[action.dest]  # type: ignore[attr-defined]
        elif action.dest == "host":
            action.choices = ("detected", "all", *hosts())
