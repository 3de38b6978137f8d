"""`codelens ui`: a page on loopback to explore a repository in a browser."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options

_LAST_PORT = 65_535


def add(commands: shared_options.Commands) -> None:
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
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
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
