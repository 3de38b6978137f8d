"""`codelens outline`: the definitions of a file or folder."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from codelens.cli import shared_options
from codelens.cli.progress_bar import Bar
from codelens.cli.relative_handles import from_here

if TYPE_CHECKING:
    from codelens.answers.reading_answers import OutlineAnswer, OutlineFile


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "outline", "list the definitions of a file or folder",
        "Shows what a file or folder defines: lines, signatures, first lines of docs, and "
        "how many tokens reading all of it would cost.",
    )  # fmt: skip
    parser.add_argument(
        "target", nargs="?", default=None,
        help="a file, folder or handle (default: the whole worktree), relative to the "
        "worktree's root, or with ./ to the current folder",
    )  # fmt: skip
    parser.add_argument(
        "--detail", choices=("names", "signatures", "docs"), default="docs",
        help="what is shown of each definition (default docs: signature and first line of its doc)",
    )  # fmt: skip
    shared_options.add_view(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Fold and print; 1 if it holds nothing."""
    from codelens.cli import screen
    from codelens.engine.engine import Engine

    target = "." if args.target is None else from_here(args.target, args.path, folders=True)
    with Engine() as engine, Bar() as bar:
        answer = engine.outline(
            target,
            path=args.path,
            ref=args.ref,
            detail=args.detail,
            budget_ms=shared_options.budget_of(args, engine.settings),
            progress=bar,
        )
    if args.json:
        from codelens.render import reading_json

        screen.put_json(reading_json.outline(answer))
    else:
        _show(answer)
        screen.say_all(answer.receipt, answer.notes)
    return 0 if answer.files or answer.folders else 1


def _show(answer: OutlineAnswer) -> None:
    from codelens.cli.screen import page
    from codelens.plurals import count_of

    page(*(
        f"{folder.path}/  {count_of(folder.files, 'file')}, ~{folder.tokens:,} tokens"
        for folder in answer.folders
    ))  # fmt: skip
    for file in answer.files:
        page(*_file_lines(file))


def _file_lines(file: OutlineFile) -> list[str]:
    from codelens.plurals import count_of
    from codelens.render.text_pieces import folded, imports_line, lines_of, tokens_of

    rows = [
        (lines_of(item.start_line, item.end_line), f"{'  ' * item.depth}{folded(item)}")
        for item in file.items
    ]
    own = tokens_of("".join(f"{lines}  {text}\n" for lines, text in rows))
    about = [
        file.language or file.outcome,
        count_of(file.lines, "line"),
        f"~{file.tokens:,} tokens",
    ]
    if rows:
        about.append(f"folded ~{own:,}")
    if file.stale:
        about.append("stale")
    width = max((len(lines) for lines, _ in rows), default=0)
    return [
        f"{file.path}  {', '.join(about)}",
        *([f"  {imports_line(file.imports)}"] if file.imports else []),
        *(f"  {lines:>{width}}  {text}" for lines, text in rows),
    ]
