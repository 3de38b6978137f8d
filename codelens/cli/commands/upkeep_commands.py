"""`codelens index`: bring the index up to date now."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codelens.cli import shared_options
from codelens.cli.standard_streams import Bar
from codelens.errors import SettingError

if TYPE_CHECKING:
    from codelens.answers.reading_answers import StatusAnswer
    from codelens.answers.upkeep_answers import PruneAnswer
    from codelens.engine.upkeep.diagnosis import CheckResult
    from codelens.engine.upkeep.file_checks import Examination, Finding, State


def add_index(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "index", "update the index now (other commands do this automatically)"
    )
    parser.add_argument(
        "--rebuild", action="store_true", help="delete the repository's index and build it again"
    )
    shared_options.add_ref(parser)
    shared_options.add_json(parser)
    parser.set_defaults(run=run_index)


def run_index(args: argparse.Namespace) -> int:
    """Index to the end and print the status."""
    from codelens.engine.engine import Engine

    with Engine() as engine, Bar() as bar:
        answer = engine.index(path=args.path, ref=args.ref, rebuild=args.rebuild, progress=bar)
    show(answer, as_object=args.json)
    return 0


# `codelens status`: where one stands and how the index is.


def add_status(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "status", "show the current scope, how fresh the index is, and what was skipped"
    )
    parser.add_argument(
        "--all", action="store_true",
        help="show every repository and view instead: size, age, last use, and why it "
             "would be pruned or kept",
    )  # fmt: skip
    shared_options.add_view(parser)
    parser.set_defaults(run=run_status)


def run_status(args: argparse.Namespace) -> int:
    """Look and print."""
    from codelens.engine.engine import Engine

    if args.all:
        return _show_all(as_object=args.json)
    with Engine() as engine, Bar() as bar:
        answer = engine.status(
            path=args.path,
            ref=args.ref,
            budget_ms=shared_options.budget_of(args, engine.settings),
            progress=bar,
        )
    show(answer, as_object=args.json)
    return 0


def _show_all(*, as_object: bool) -> int:
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.render import upkeep_text

    with Engine() as engine:
        repositories = engine.overview()
    if as_object:
        screen.put_json(upkeep_text.overview_json(repositories))
    else:
        screen.page(*upkeep_text.overview_lines(repositories))
    return 0


def show(answer: StatusAnswer, *, as_object: bool) -> None:
    """Print a status."""
    from codelens.cli import screen

    if as_object:
        from codelens.render import reading_text

        screen.put_json(reading_text.status_json(answer))
        return
    from codelens.render.text_pieces import status_rows

    rows = status_rows(answer)
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        screen.field(f"{name:<{width}}", value)
    screen.say_all(answer.receipt)


# `codelens drop`: remove a view, or all of a repository, now.


def add_drop(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands,
        "drop",
        "remove a view, or the whole index of a repository",
        "Removes a view from the index. Saved contexts are kept. An active or pinned view "
        "is removed only with --force. Only time is lost: a view is rebuilt when it is "
        "next needed.",
    )
    parser.add_argument(
        "view", nargs="?", default="", metavar="VIEW",
        help="a branch, a ref, a worktree's folder, or an id of `codelens status --all`",
    )  # fmt: skip
    parser.add_argument(
        "--repository", nargs="?", const="", metavar="ID",
        help="the whole index of the current repository, or of the repository with this id",
    )  # fmt: skip
    parser.add_argument("--force", action="store_true", help="also remove active or pinned views")
    shared_options.add_json(parser)
    parser.set_defaults(run=run_drop)


def run_drop(args: argparse.Namespace) -> int:
    """Drop and say what went.

    Raises:
        SettingError: neither a view nor a repository was named, or both.
    """
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.render import upkeep_text

    repository: str | None = args.repository
    if not args.view and repository is None:
        raise SettingError("nothing to drop; name a view, or give --repository")
    if args.view and repository is not None:
        raise SettingError(
            "a view and --repository cannot be combined; name a view, or give --repository"
        )
    with Engine() as engine:
        if repository is None:
            done = engine.drop(args.view, path=args.path, force=args.force)
        else:
            done = engine.drop_repository(path=args.path, repo_id=repository, force=args.force)
    if args.json:
        screen.put_json(upkeep_text.dropped_json(done))
    else:
        screen.page(*upkeep_text.dropped_lines(done))
    return 0


# `codelens pin`: keep a view whatever its age.


def add_pin(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "pin", "keep the view of a branch or ref, whatever its age",
        "Pins a view, so that `prune` never removes it. A ref without a view gets one.",
    )  # fmt: skip
    add_arguments(parser)
    parser.set_defaults(run=run_pin)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Those that `unpin` has too."""
    parser.add_argument(
        "view", nargs="?", default="", metavar="VIEW",
        help="a branch, a ref, a worktree's folder, or an id of `codelens status --all` "
        "(default: the current view)",
    )  # fmt: skip
    shared_options.add_json(parser)


def run_pin(args: argparse.Namespace) -> int:
    """Pin and say so."""
    return change(args, pinned=True)


def change(args: argparse.Namespace, *, pinned: bool) -> int:
    """Pin or unpin, and say so."""
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.render import upkeep_text

    with Engine() as engine, Bar() as bar:
        done = engine.pin(args.view, path=args.path, pinned=pinned, progress=bar)
    if args.json:
        screen.put_json(upkeep_text.pinned_json(done))
    else:
        screen.page(upkeep_text.pinned_line(done))
    return 0


# `codelens unpin`: let a view age again.


def add_unpin(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "unpin", "allow a pinned view to be pruned again",
        "Unpins a view, so that `prune` can remove it when it has expired.",
    )  # fmt: skip
    add_arguments(parser)
    parser.set_defaults(run=run_unpin)


def run_unpin(args: argparse.Namespace) -> int:
    """Unpin and say so."""
    return change(args, pinned=False)


# `codelens prune`: remove views that nobody has asked for long; made for cron.


def add_prune(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands,
        "prune",
        "remove views of branches and worktrees that have not been used for a long time",
        "Removes unused views from the indexes of all repositories (with -C, of one): "
        "views of branches that are not checked out (after 14 days), of detached HEADs (3 "
        "days), of removed worktrees (48 hours) and of refs (3 days), and everything that "
        "no view needs any more. A pinned view, the active view of a worktree, or a "
        "recently used view is never removed. On a terminal it only shows what would be "
        "removed, unless --yes is given; elsewhere (cron) it removes and prints nothing.",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--yes",
        action="store_true",
        help="remove without asking, even on a terminal, and report what was removed",
    )
    how.add_argument(
        "--dry-run", action="store_true", help="show what would be removed; remove nothing"
    )
    parser.add_argument(
        "--days", type=shared_options.days, metavar="N",
        help="keep unused views for this long instead of the configured times",
    )  # fmt: skip
    shared_options.add_json(parser)
    parser.set_defaults(run=run_prune)


def run_prune(args: argparse.Namespace) -> int:
    """Prune; 2 if an index could not be."""
    from codelens.engine.engine import Engine

    watched = sys.stdout.isatty()
    dry_run = args.dry_run or (watched and not args.yes)
    with Engine() as engine:
        only = getattr(args, "path", ".")
        answer = engine.prune(dry_run=dry_run, days=args.days, only=None if only == "." else only)
    if args.json or dry_run or args.yes:
        _show(answer, as_object=args.json)
    if answer.failed:
        from codelens.cli.standard_streams import fail

        return fail("; ".join(result.error for result in answer.results if result.error))
    return 0


def _show(answer: PruneAnswer, *, as_object: bool) -> None:
    from codelens.cli import screen
    from codelens.render import upkeep_text

    if as_object:
        screen.put_json(upkeep_text.prune_json(answer))
    else:
        screen.page(*upkeep_text.prune_lines(answer))


# `codelens usage`: how much it was used on this machine, and what that saved.

_BY = ("day", "tool", "repository")


def add_usage(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = commands.add_parser(
        "usage", help="show how much codelens was used, and what it saved",
        description="Shows calls of the command line and the MCP server by day, tool and "
        "repository, bytes served, and what reading whole files would have cost. Counted only on "
        "this machine, never sent anywhere, without queries or code. CODELENS_USAGE=off turns "
        "it off.",
        **shared_options.help_of("usage"), allow_abbrev=False,
    )  # fmt: skip
    shared_options.add_count(parser, "--days", 30, "number of days, including today")
    parser.add_argument("--by", choices=_BY, action="append", help="show only this chart")
    shared_options.add_json(parser)
    parser.set_defaults(run=run_usage)


def run_usage(args: argparse.Namespace) -> int:
    """Print; 1 if nothing was counted."""
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.render import upkeep_text

    with Engine() as engine:
        answer = engine.usage(days=args.days)
    if args.json:
        screen.put_json(upkeep_text.usage_json(answer))
    else:
        screen.page(*upkeep_text.usage_text(answer, args.by or _BY))
        if not answer.counted:
            screen.say("note: usage is not counted: the setting `usage` is off")
    return 0 if answer.total.calls else 1


# `codelens doctor`: what is wrong here, and mending it.

_SIGNS = {"ok": "ok", "note": "note", "mended": "fixed", "wrong": "WRONG"}
_STYLES = {"ok": "dim", "note": "kind", "mended": "bold", "wrong": "warn"}
_STATES: dict[str, State] = {"fine": "ok", "warning": "note", "broken": "wrong"}
"""States of a `HostCheck` as findings."""


def add_doctor(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "doctor", "find problems with codelens on this machine; --fix repairs them",
        "Checks versions, folders, permissions, free space, every index (all pages and "
        "their checksums), leases, saved contexts, usage and leftover files of all "
        "repositories. Starts the server as each configured coding agent does and checks "
        "that it answers. Nothing is changed without --fix. Exit codes: 0 no problems, or "
        "all fixed; 1 problems remain; 2 error.",
    )  # fmt: skip
    parser.add_argument("--fix", action="store_true", help="fix what can be fixed")
    parser.add_argument(
        "--thorough", action="store_true",
        help="also compare the SQL indexes of each database with its tables (takes two to "
             "four times as long)",
    )  # fmt: skip
    parser.add_argument(
        "--no-agents", action="store_true",
        help="do not check the entries of coding agents (starting their servers takes seconds)",
    )  # fmt: skip
    shared_options.add_json(parser)
    parser.set_defaults(run=run_doctor)


def run_doctor(args: argparse.Namespace) -> int:
    """Examine and print; 1 if something is wrong and stays so."""
    from codelens.cli import screen
    from codelens.config import Settings, home_of
    from codelens.engine.upkeep.diagnosis import CHECKS, examine

    agents = () if args.no_agents else (("agents", _agents),)
    checks = (*CHECKS, ("settings of focus", _focus), *agents)
    findings: list[CheckResult] = []
    # The settings may be what is wrong.
    settings = Settings(home=home_of())
    for finding in examine(settings, fix=args.fix, thorough=args.thorough, checks=checks):
        findings.append(finding)
        if not args.json:
            _show_findings(finding)
    wrong = sum(finding.state == "wrong" for finding in findings)
    mended = sum(finding.state == "mended" for finding in findings)
    if args.json:
        results = [finding._asdict() for finding in findings]
        screen.put_json({"results": results, "wrong": wrong, "mended": mended})
    else:
        screen.say(_summary(wrong, mended, sum("--fix: " in finding.done for finding in findings)))
    return 1 if wrong else 0


def _focus(case: Examination) -> Iterator[Finding]:
    """The table `[focus]` of the settings file; nothing if it, or the whole file, was told."""
    from codelens.config import damage_in
    from codelens.engine.upkeep.file_checks import settings_set_aside
    from codelens.focus.focus_settings import usable_settings

    _, damage = usable_settings(str(case.home))
    if damage and not damage_in(case.home):
        yield settings_set_aside(case, damage)


def _agents(case: Examination) -> Iterator[Finding]:
    """The entries of coding agents in the user's scope, each started; none where none is wired.

    They are fixed by `codelens install`, never by --fix: the files are the user's.
    """
    from codelens.engine.upkeep.file_checks import Finding
    from codelens.hosts.desired_edits import Request
    from codelens.hosts.host_checks import check_hosts
    from codelens.hosts.host_descriptor import hosts, this_machine

    request = Request(this_machine(), "user", None, "codelens")
    for check in check_hosts(list(hosts().values()), request):
        if check.state != "absent":
            yield Finding(
                _STATES[check.state],
                f"{check.host} ({check.name})",
                check.message,
                "",
            )


def _show_findings(check_result: CheckResult) -> None:
    from codelens.cli import screen
    from codelens.render.text_pieces import one_line

    done = f"; {one_line(check_result.done)}" if check_result.done else ""
    description = (
        f"{check_result.check}: {one_line(check_result.about)}: "
        f"{one_line(check_result.found)}{done}"
    )
    screen.field(f"{_SIGNS[check_result.state]:<6}", description, _STYLES[check_result.state])


def _summary(wrong: int, mended: int, mendable: int) -> str:
    if not wrong:
        return f"no problems{f', {mended:,} fixed' if mended else ''}"
    hint = f"; `codelens doctor --fix` fixes {mendable:,}" if mendable else ""
    problems = "problem" if wrong == 1 else "problems"
    return f"{wrong:,} {problems}, {mended:,} fixed{hint}"
