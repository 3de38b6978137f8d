"""`codelens related`, `references`, `impact` and `export`: commands about uses of definitions."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from functools import partial
from itertools import chain

from codelens.cli import screen, shared_options
from codelens.cli.shared_options import asking, from_here, standing_at
from codelens.cli.standard_streams import emit
from codelens.engine.graph.relation_choice import DIRECTIONS, RELATIONS
from codelens.errors import SettingError
from codelens.render import graph_text
from codelens.render.reading_text import with_usable_paths


def add_related(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "related", "show what calls, uses, imports and tests a target, or paths from it",
        "Shows certain relations of a definition or file: nothing is guessed by name, and "
        "uses that could not be resolved are counted. With --to, shows the paths along which "
        "the target uses another definition.",
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


def run_related(args: argparse.Namespace) -> int:
    """Print relations; return 1 if there are none."""
    args.path = standing_at(args.path, [args.target])
    with asking() as (engine, bar):
        answer = engine.related(
            from_here(args.target, args.path),
            to=from_here(args.to, args.path) if args.to is not None else None,
            kinds=args.kinds,
            direction=args.direction,
            depth=args.depth,
            paths=args.paths,
            limit=args.limit,
            **shared_options.view(args, engine, bar),
        )
    lines = chain.from_iterable(graph_text.related(answer))
    screen.show(answer, graph_text.related_json, lines, as_json=args.json)
    return 0 if answer.results or answer.paths or answer.may else 1


# `codelens references`.


def add_references(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "references", "list every line that uses a target, to rename or review it",
        "Lists every use of a definition or file with its line of code, by file and enclosing "
        "definition. Certain uses come first, then tests, then possible uses with the reason.",
    )  # fmt: skip
    parser.add_argument("target", help="a handle, a file, a folder, FILE:LINE, or a name")
    shared_options.add_count(parser, "--limit", 100, "maximum number of lines")
    parser.add_argument(
        "--cursor", default="", metavar="CURSOR", help="list the lines after this one (see --json)"
    )
    shared_options.add_view(parser)


def run_references(args: argparse.Namespace) -> int:
    """Print references; return 1 if there are none."""
    args.path = standing_at(args.path, [args.target])
    with asking() as (engine, bar):
        answer = engine.references(
            from_here(args.target, args.path),
            limit=args.limit,
            cursor=args.cursor,
            **shared_options.view(args, engine, bar),
        )
    lines = chain.from_iterable(graph_text.references(answer, "--cursor {}"))
    screen.show(answer, graph_text.references_json, lines, as_json=args.json)
    return 0 if answer.references else 1


# `codelens impact`.


def add_impact(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "impact", "show what a change can affect, and which tests to run",
        "Lists direct and indirect users of the targets, by distance, and the tests that "
        "reach them. With --diff, the targets are the definitions that differ between a "
        "commit (default: HEAD) and the files on disk, untracked files included.",
    )  # fmt: skip
    parser.add_argument(
        "target", nargs="*", help="handles, files, folders or names; not with --diff"
    )
    parser.add_argument(
        "--diff", nargs="?", const="HEAD", metavar="BASE",
        help="use the definitions that differ from this commit (default: HEAD) as targets",
    )  # fmt: skip
    shared_options.add_count(parser, "--depth", 3, "maximum number of steps, 1 to 5")
    shared_options.add_count(
        parser, "--limit", 60, "maximum number of definitions and of test files"
    )
    shared_options.add_view(parser)


def run_impact(args: argparse.Namespace) -> int:
    """Print the impact; return 1 if nothing differs or nothing is affected."""
    args.path = standing_at(args.path, args.target or ["."])
    with asking() as (engine, bar):
        answer = engine.impact(
            [from_here(target, args.path) for target in args.target],
            diff=args.diff,
            depth=args.depth,
            limit=args.limit,
            **shared_options.view(args, engine, bar),
        )
    lines = chain.from_iterable(graph_text.impact(answer))
    screen.show(answer, graph_text.impact_json, lines, as_json=args.json)
    return 0 if answer.results or answer.tests or answer.may else 1


# `codelens export`.


def add_export(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "export", "print every definition, edge or saved context as JSON",
        "Prints JSON lines, sorted by path and line. symbols: every definition (path, "
        "name, qualified_name, kind, start_line, end_line, line (of the name), exported, "
        "language). edges: every certain call, use, base class, import and membership "
        "(src_file, src_line, dst_file, dst_line, kind, name, line, confidence; src_line and "
        "dst_line are the lines of the definitions' names). contexts: all saved contexts, as "
        "one object that `codelens load --import` reads.",
    )  # fmt: skip
    parser.add_argument("what", choices=("symbols", "edges", "contexts"))
    parser.add_argument("--possible", action="store_true",
                        help="also print possible edges: uses that may mean one of several "
                             "definitions, with a confidence below 1")  # fmt: skip
    shared_options.add_ref(parser)


def run_export(args: argparse.Namespace) -> int:
    """Print the export; return 1 if it is empty."""
    if args.possible and args.what != "edges":
        raise SettingError("--possible requires `export edges`; omit it")
    if args.what == "contexts":
        if args.ref is not None:
            raise SettingError("saved contexts do not belong to a ref; omit --ref")
        return _contexts(args.path)
    is_found = False
    with asking() as (engine, bar):
        edges = partial(engine.export_edges, possible=args.possible)
        export = edges if args.what == "edges" else engine.export_symbols
        for line in export(path=args.path, ref=args.ref, progress=bar):
            is_found = True
            row = with_usable_paths(asdict(line))
            emit(f"{json.dumps(row, ensure_ascii=False)}\n")
    return 0 if is_found else 1


def _contexts(path: str) -> int:
    with asking() as (engine, _):
        exported = engine.export_contexts(path=path)
    emit(f"{json.dumps(exported, ensure_ascii=False, indent=2)}\n")
    return 0 if exported["contexts"] else 1
