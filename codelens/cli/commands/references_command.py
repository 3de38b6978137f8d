"""`codelens references`: every line that uses a definition or file."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.cli.progress_bar import Bar
from codelens.cli.relative_handles import from_here, standing_at


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "references", "list every line that uses a target, to rename or review it",
        "Lists every use of a definition or file with its line of code, by file and by the "
        "definition around it. Certain uses come first, then tests, then uses that only may mean "
        "the target, with the reason.",
    )  # fmt: skip
    parser.add_argument("target", help="a handle, a file, a folder, FILE:LINE, or a name")
    shared_options.add_count(parser, "--limit", 100, "maximum number of lines")
    parser.add_argument(
        "--cursor", default="", metavar="CURSOR", help="list the lines after this one (see --json)"
    )
    shared_options.add_view(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Look and print; 1 if nothing uses it."""
    from codelens.cli import screen

    args.path = standing_at(args.path, [args.target])
    from codelens.engine.engine import Engine

    with Engine() as engine, Bar() as bar:
        answer = engine.references(
            from_here(args.target, args.path),
            path=args.path,
            ref=args.ref,
            limit=args.limit,
            cursor=args.cursor,
            budget_ms=shared_options.budget_of(args, engine.settings),
            progress=bar,
        )
    if args.json:
        from codelens.render.graph import graph_json

        screen.put_json(graph_json.references(answer))
    else:
        from codelens.render.graph import graph_text

        head, blocks = graph_text.references(answer, "--cursor {}")
        screen.page(*head, *blocks)
        screen.say_all(answer.receipt, answer.notes)
    return 0 if answer.references else 1
