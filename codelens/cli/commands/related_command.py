"""`codelens related`: who uses a definition or file and what it uses, or paths to another."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.cli.progress_bar import Bar
from codelens.cli.relative_handles import from_here, standing_at
from codelens.engine.graph.relation_choice import DIRECTIONS, RELATIONS


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "related", "show what calls, uses, imports and tests a target; paths to another",
        "Shows what is certainly related to a definition or file: nothing is guessed by "
        "name, and uses that could not be resolved are counted. With --to, shows the paths "
        "along which it uses another.",
    )  # fmt: skip
    parser.add_argument("target", help="a handle, a file, a folder, or a name")
    parser.add_argument("--to", metavar="GOAL", help="show paths from the target to this one")
    shared_options.add_count(parser, "--paths", 3, "with --to, maximum number of distinct paths")
    parser.add_argument(
        "--kind", action="append", default=[], choices=RELATIONS, metavar="KIND", dest="kinds",
        help=f"only these: {', '.join(RELATIONS)} (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--direction", choices=DIRECTIONS, default="both",
        help="in: what uses it; out: what it uses",
    )  # fmt: skip
    shared_options.add_count(parser, "--depth", 1, "maximum number of steps, 1 to 3")
    shared_options.add_count(parser, "--limit", 40, "maximum number of results")
    shared_options.add_view(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Look and print; 1 if nothing is related."""
    from codelens.cli import screen

    args.path = standing_at(args.path, [args.target])
    from codelens.engine.engine import Engine

    with Engine() as engine, Bar() as bar:
        answer = engine.related(
            from_here(args.target, args.path),
            to=from_here(args.to, args.path) if args.to is not None else None,
            path=args.path,
            ref=args.ref,
            kinds=args.kinds,
            direction=args.direction,
            depth=args.depth,
            paths=args.paths,
            limit=args.limit,
            budget_ms=shared_options.budget_of(args, engine.settings),
            progress=bar,
        )
    if args.json:
        from codelens.render.graph import graph_json

        screen.put_json(graph_json.related(answer))
    else:
        from codelens.render.graph import graph_text

        head, blocks = graph_text.related(answer)
        screen.page(*head, *blocks)
        screen.say_all(answer.receipt, answer.notes)
    return 0 if answer.results or answer.paths or answer.may else 1
