"""`codelens diff`, `conflicts` and `history`: compare branches, worktrees and commits."""

from __future__ import annotations

import argparse
from itertools import chain

from codelens.cli import screen, shared_options
from codelens.cli.shared_options import asking, from_here, standing_at
from codelens.errors import SettingError
from codelens.render import branch_text, token_budget
from codelens.wording import count_of


def add_diff(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "diff", "show which definitions differ, and which uses that breaks",
        "Lists each definition that was added, removed, moved or renamed, or whose "
        "signature, body, documentation or formatting changed; then its uses that were not "
        "changed with it. Without SPEC, compares HEAD with the files on disk, including "
        "untracked files.",
    )  # fmt: skip
    parser.add_argument(
        "spec", nargs="?", default="", metavar="SPEC",
        help="REF (compared with the files), A..B or A B, or A...B (from the merge base to B)",
    )  # fmt: skip
    parser.add_argument("until", nargs="?", default="", metavar="B", help=argparse.SUPPRESS)
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


def run_diff(args: argparse.Namespace) -> int:
    """Compare and print; return 1 if nothing differs."""
    with asking() as (engine, bar):
        answer = engine.diff(
            f"{args.spec}..{args.until}" if args.until else args.spec,
            other=args.other,
            staged=args.staged,
            globs=args.globs,
            kinds=args.kinds,
            uses=not args.no_uses and not args.stat,
            **shared_options.limits(args, engine, bar),
        )
    if args.json:
        screen.put_json(branch_text.diff_json(answer))
    elif args.markdown:
        screen.put_safe(*branch_text.diff_markdown(answer))
        screen.say_all(answer.receipt, answer.notes)
    else:
        head, blocks = branch_text.diff(answer, stat=args.stat)
        fitted = token_budget.fitted(
            head, blocks, lambda left: f"{count_of(left, 'line')} more" if left else "",
            args.max_tokens,
        )  # fmt: skip
        screen.page(*fitted.head, *fitted.blocks, *([fitted.more] if fitted.more else []))
        screen.say_all(answer.receipt, answer.notes)
    return 0 if answer.files else 1


# `codelens conflicts`.


def add_conflicts(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "conflicts", "show what will conflict with other worktrees and branches",
        "Reports what git could not merge, definitions that both sides changed, and places "
        "where one side newly uses what the other changed. Uncommitted edits of all "
        "worktrees are included. Without --with, compares all worktrees, and branches with "
        "commits in the last 14 days.",
    )  # fmt: skip
    parser.add_argument(
        "--with", action="append", default=[], dest="others", metavar="OTHER",
        help="a worktree by path, folder name or branch, or a ref (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--base", default="", metavar="REF",
        help="compare changes since this commit instead of the merge base; definitions only",
    )  # fmt: skip
    parser.add_argument(
        "--all", action="store_true",
        help="also show harmless overlaps; with --changing, also changes that only affect "
        "documentation or formatting",
    )  # fmt: skip
    parser.add_argument(
        "--changing", action="append", default=[], dest="files", metavar="FILE",
        help="instead, list the definitions of this file that other worktrees have changed, "
        "without comparing them with your changes (repeatable)",
    )  # fmt: skip
    shared_options.add_budget(parser)
    shared_options.add_json(parser)


def run_conflicts(args: argparse.Namespace) -> int:
    """Compare and print; return 1 if there are no conflicts."""
    if args.files:
        return _run_changing(args)
    with asking() as (engine, bar):
        answer = engine.conflicts(
            others=args.others, base=args.base, **shared_options.limits(args, engine, bar)
        )
    if args.json:
        screen.put_json(branch_text.conflicts_json(answer))
    else:
        head, blocks = branch_text.conflicts(answer, detailed=args.all)
        screen.page(*head[:1], *blocks, *head[1:])
        screen.say_all(answer.receipt, answer.notes)
    return 0 if answer.results else 1


def _run_changing(args: argparse.Namespace) -> int:
    """Print what other worktrees changed in the given files; return 1 if they changed nothing."""
    if args.others or args.base:
        raise SettingError("--changing cannot be combined with --with or --base; leave those out")
    files = [from_here(name, args.path) for name in args.files]
    with asking() as (engine, _):
        every = engine.changed_elsewhere(files, path=args.path, quiet=True)
    elsewheres = [row for row in every if args.all or not row.is_quiet]
    left = len(every) - len(elsewheres)
    if args.json:
        screen.put_json(branch_text.changed_elsewhere_json(elsewheres, left))
    else:
        screen.page(*branch_text.changed_elsewhere(elsewheres))
        if not elsewheres:
            screen.say("no other worktree has changed a definition in " + ", ".join(args.files))
        if left:
            changes = count_of(left, "change")
            screen.say(f"note: {changes} of documentation or formatting only, not shown: --all")
    return 0 if elsewheres else 1


# `codelens history`.


def add_history(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "history", "show the commits that changed a definition, or the last change of "
                        "each definition in a file",
        "Lists the commits that changed a definition, newest first, through renames and "
        "moves between files, starting with an uncommitted change. For a file, shows when "
        "each of its definitions was last changed.",
    )  # fmt: skip
    parser.add_argument("target", help="a handle, a file, or a name that only one definition has")
    shared_options.add_count(parser, "--limit", 20, "maximum number of changes")
    parser.add_argument(
        "--since", default="", metavar="DATE", help="only changes since: 2026-01-31, 14d, 6weeks"
    )
    parser.add_argument("--at", dest="ref", metavar="REF", help="start from this ref")
    parser.add_argument("--first-parent", action="store_true", help="follow only first parents")
    parser.add_argument("--patch", action="store_true", help="show the diff of the definition")
    parser.add_argument(
        "--touched-with", action="store_true", help="count what else changed in the same commits"
    )
    shared_options.add_budget(parser)
    shared_options.add_json(parser)


def run_history(args: argparse.Namespace) -> int:
    """Print the history; return 1 if it is empty."""
    args.path = standing_at(args.path, [args.target])
    with asking() as (engine, bar):
        answer = engine.history(
            from_here(args.target, args.path),
            limit=args.limit,
            since=args.since,
            first_parent=args.first_parent,
            patch=args.patch,
            together=args.touched_with,
            **shared_options.view(args, engine, bar),
        )
    lines = chain.from_iterable(branch_text.history(answer))
    screen.show(answer, branch_text.history_json, lines, as_json=args.json)
    return 0 if answer.results or answer.definitions or answer.together else 1
