"""`codelens unpack`: merge what `codelens pack` wrote, and index what it did not have."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.cli.progress_bar import Bar


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "unpack", "merge a pack into this repository's index, then index what differs",
        "Merges a file of `codelens pack` into this repository's index, then indexes the worktree. "
        "Files are read and hashed as always; those whose text the pack has are not parsed again. "
        "Some facts are compared with the text here. A pack that is damaged, of another version, "
        "or wrong is refused as a whole.",
    )  # fmt: skip
    parser.add_argument("file", metavar="FILE", help="a file that `codelens pack` wrote")
    shared_options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Unpack and index, and say how much the pack spared."""
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.plurals import count_of

    with Engine() as engine, Bar() as bar:
        answer = engine.unpack(args.file, path=args.path, progress=bar)
        receipt = engine.look(path=args.path, progress=bar)
    if args.json:
        from dataclasses import asdict

        from codelens.render import reading_json

        screen.put_json({**reading_json.receipt(receipt), **asdict(answer)})
        return 0
    texts = count_of(answer.contents, "text")
    screen.put_safe(
        f"{answer.file}: {texts}, {answer.merged:,} merged, {answer.compared:,} compared"
    )
    if answer.outdated:
        screen.say(f"note: {answer.outdated:,} are of another version of the extractor, left out")
    screen.put_safe(f"{receipt.files:,} files checked, {receipt.indexed:,} parsed here")
    return 0
