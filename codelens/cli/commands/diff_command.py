"""`codelens diff`: what differs between two sides, as definitions, and which uses that breaks."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.cli.progress_bar import Bar


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "diff", "show which definitions differ, and which uses that breaks",
        "Lists each definition that differs once: added, removed, moved or renamed, or "
        "with a changed signature, body, documentation or formatting; then the uses that "
        "were not changed with it. Without SPEC, compares HEAD with the files on disk, "
        "untracked files included.",
    )  # fmt: skip
    parser.add_argument(
        "spec", nargs="?", default="", metavar="SPEC",
        help="REF (to the files), A..B, or A...B (from the merge base to B)",
    )  # fmt: skip
    parser.add_argument(
        "--path", action="append", default=[], dest="globs", metavar="GLOB",
        help="only this file, folder or glob; !GLOB excludes (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--staged", action="store_true", help="compare with git's index instead of the files"
    )
    parser.add_argument(
        "--with", dest="other", default="", metavar="OTHER",
        help="compare with a worktree (by path) or a ref instead of the files here",
    )  # fmt: skip
    parser.add_argument(
        "--kind", action="append", default=[], dest="kinds", metavar="KIND",
        help="only definitions of this kind (class), or with this change (moved)",
    )  # fmt: skip
    parser.add_argument("--stat", action="store_true", help="print one line per file")
    parser.add_argument("--no-uses", action="store_true", help="do not look for broken uses")
    parser.add_argument("--markdown", action="store_true", help="print Markdown for a pull request")
    parser.add_argument(
        "--max-tokens", type=shared_options.positive, metavar="N",
        help="maximum size in tokens; omitted results are counted",
    )  # fmt: skip
    shared_options.add_budget(parser)
    shared_options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compare and print; 1 if nothing differs."""
    from codelens.cli import screen
    from codelens.engine.engine import Engine

    with Engine() as engine, Bar() as bar:
        answer = engine.diff(
            args.spec,
            path=args.path,
            other=args.other,
            staged=args.staged,
            globs=args.globs,
            kinds=args.kinds,
            uses=not args.no_uses and not args.stat,
            budget_ms=shared_options.budget_of(args, engine.settings),
            progress=bar,
        )
    if args.json:
        from codelens.render.branches import branch_json

        screen.put_json(branch_json.diff(answer))
    elif args.markdown:
        from codelens.render.branches import branch_markdown

        screen.put_safe(*branch_markdown.diff(answer))
        screen.say_all(answer.receipt, answer.notes)
    else:
        from codelens.plurals import count_of
        from codelens.render import token_budget
        from codelens.render.branches import branch_text

        head, blocks = branch_text.diff(answer, stat=args.stat)
        fitted = token_budget.fitted(
            head, blocks, lambda left: f"{count_of(left, 'line')} more" if left else "",
            args.max_tokens,
        )  # fmt: skip
        screen.page(*fitted.head, *fitted.blocks, *([fitted.more] if fitted.more else []))
        screen.say_all(answer.receipt, answer.notes)
    return 0 if answer.files else 1
