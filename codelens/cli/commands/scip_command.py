"""`codelens scip`: imports facts from compilers, compares them with our edges, and writes SCIP."""

from __future__ import annotations

import argparse

from codelens.cli import screen, shared_options
from codelens.cli.shared_options import asking
from codelens.wording import count_of

_ACTIONS = ("import", "check", "export", "forget")


def add_scip(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "scip", "import facts of a compiler (SCIP), compare them, or write SCIP",
        "import: merge an index of scip-python, scip-typescript, rust-analyzer and the like; "
        "it counts for every file with the text that was indexed, on any branch, until the file "
        "is edited. check: list where codelens and the compiler differ. export: write "
        "definitions, references and relations as a SCIP index. forget: remove all that was "
        "imported. Needs `pip install 'codelens[scip]'`.",
    )  # fmt: skip
    parser.add_argument("action", choices=_ACTIONS)
    parser.add_argument(
        "file", nargs="?", default="index.scip", metavar="FILE",
        help="with import and export: the index (default: index.scip)",
    )  # fmt: skip
    parser.add_argument(
        "--root", metavar="FOLDER",
        help="with import: the folder of the repository that the paths of the index start from "
        "(default: the one under which most of them exist)",
    )  # fmt: skip
    parser.add_argument(
        "--add", action="store_true",
        help="with import: earlier facts about the same texts remain, except where these say "
        "otherwise",
    )  # fmt: skip
    parser.add_argument(
        "--limit", type=shared_options.positive, default=50, metavar="N",
        help="with check: list at most N differences; all are counted (default: 50)",
    )  # fmt: skip
    shared_options.add_ref(parser)
    shared_options.add_json(parser)


def run_scip(args: argparse.Namespace) -> int:
    """Run the action; return 1 if there is nothing to check or to forget."""
    actions = {"import": _import, "check": _check, "export": _export, "forget": _forget}
    return actions[args.action](args)


def _import(args: argparse.Namespace) -> int:
    from codelens.render import upkeep_text

    with asking() as (engine, bar):
        answer = engine.scip_import(
            args.file, root=args.root, add=args.add, path=args.path, ref=args.ref, progress=bar
        )
    lines = upkeep_text.scip_imported_lines(answer)
    screen.show(answer, upkeep_text.receipt_and_fields, lines, as_json=args.json)
    return 0


def _check(args: argparse.Namespace) -> int:
    from codelens.render import upkeep_text

    with asking() as (engine, bar):
        answer = engine.scip_check(limit=args.limit, path=args.path, ref=args.ref, progress=bar)
    lines = upkeep_text.scip_checked_lines(answer)
    screen.show(answer, upkeep_text.receipt_and_fields, lines, as_json=args.json)
    return 0 if answer.counts else 1


def _export(args: argparse.Namespace) -> int:
    from codelens.render import upkeep_text

    with asking() as (engine, bar):
        answer = engine.scip_export(args.file, path=args.path, ref=args.ref, progress=bar)
    lines = [upkeep_text.scip_exported_line(answer)]
    screen.show(answer, upkeep_text.receipt_and_fields, lines, as_json=args.json)
    return 0


def _forget(args: argparse.Namespace) -> int:
    with asking() as (engine, _):
        documents = engine.scip_forget(path=args.path)
    if args.json:
        screen.put_json({"forgotten": documents})
    else:
        screen.put(f"compiler facts of {count_of(documents, 'text')} forgotten")
    return 0 if documents else 1
