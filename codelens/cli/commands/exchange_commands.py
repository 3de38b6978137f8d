"""`codelens pack`, `unpack` and `scip`: exchange facts with other clones and with compilers."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from codelens.cli import screen, shared_options
from codelens.cli.shared_options import asking
from codelens.render import upkeep_text
from codelens.render.reading_text import receipt_json
from codelens.wording import count_of


def add_pack(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "pack", "write the facts of commits into one file, for other clones",
        "Writes the index of commits into one file. `codelens unpack` merges it into the index "
        "of any clone, which then parses only what differs. A pack only contains facts of "
        "committed text: no paths, no uncommitted text, no saved notes. The same commits give "
        "the same bytes.",
    )  # fmt: skip
    parser.add_argument(
        "refs", nargs="*", metavar="REF", help="branches, tags or commits (default: HEAD)"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="codelens.pack",
        help="the file to write (default: codelens.pack)",
    )  # fmt: skip
    parser.add_argument(
        "--since", metavar="REF", default="", help="omit content that the files of this ref have"
    )
    shared_options.add_json(parser)


def run_pack(args: argparse.Namespace) -> int:
    """Write a pack and print a summary."""
    with asking() as (engine, bar):
        answer = engine.pack(
            args.output, refs=args.refs, since=args.since, path=args.path, progress=bar
        )
    if args.json:
        screen.put_json(asdict(answer))
        return 0
    commits = ", ".join(commit[:12] for commit in answer.commits)
    texts = count_of(answer.contents, "text")
    screen.put_safe(f"{answer.file}: {texts} of {commits}, {answer.size_bytes:,} bytes")
    if answer.left_out:
        screen.say(f"note: {count_of(answer.left_out, 'text')} too large for a pack")
    if answer.secret:
        screen.say(f"note: {count_of(answer.secret, 'text')} that may hold secrets left out")
    return 0


# `codelens unpack`.


def add_unpack(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "unpack", "merge a pack into this repository's index, then index what differs",
        "Merges a file of `codelens pack` into this repository's index, then indexes the worktree. "
        "Files are read and hashed as always, but texts in the pack are not parsed again. A sample "
        "of the facts is compared with the text here. A pack that is damaged, wrong or of another "
        "version is rejected as a whole.",
    )  # fmt: skip
    parser.add_argument("file", metavar="FILE", help="a file that `codelens pack` wrote")
    shared_options.add_json(parser)


def run_unpack(args: argparse.Namespace) -> int:
    """Unpack and index, and print how many files were still parsed."""
    with asking() as (engine, bar):
        answer = engine.unpack(args.file, path=args.path, progress=bar)
        receipt = engine.look(path=args.path, progress=bar)
    if args.json:
        screen.put_json({**receipt_json(receipt), **asdict(answer)})
        return 0
    texts = count_of(answer.contents, "text")
    screen.put_safe(
        f"{answer.file}: {texts}, {answer.merged:,} merged, {answer.compared:,} compared"
    )
    if answer.outdated:
        screen.say(f"note: {answer.outdated:,} skipped: another version of the extractor")
    screen.put_safe(f"{receipt.files:,} files checked, {receipt.indexed:,} parsed here")
    return 0


# `codelens scip`: imports facts from compilers, compares them with our edges, and writes SCIP.

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
    with asking() as (engine, bar):
        answer = engine.scip_import(
            args.file, root=args.root, add=args.add, path=args.path, ref=args.ref, progress=bar
        )
    lines = upkeep_text.scip_imported_lines(answer)
    screen.show(answer, upkeep_text.receipt_and_fields, lines, as_json=args.json)
    return 0


def _check(args: argparse.Namespace) -> int:
    with asking() as (engine, bar):
        answer = engine.scip_check(limit=args.limit, path=args.path, ref=args.ref, progress=bar)
    lines = upkeep_text.scip_checked_lines(answer)
    screen.show(answer, upkeep_text.receipt_and_fields, lines, as_json=args.json)
    return 0 if answer.counts else 1


def _export(args: argparse.Namespace) -> int:
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
