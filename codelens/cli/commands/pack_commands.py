"""`codelens pack` and `codelens unpack`: share the index of commits with other clones."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from codelens.cli import screen, shared_options
from codelens.cli.shared_options import asking
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
    from codelens.render.reading_text import receipt_json

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
