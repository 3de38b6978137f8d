"""`codelens index`, `status`, `drop`, `pin`, `prune`, `usage` and `doctor`: index maintenance."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from codelens.cli import screen, shared_options, standard_streams
from codelens.cli.shared_options import asking
from codelens.errors import SettingError
from codelens.render import reading_text, upkeep_text
from codelens.render.text_pieces import one_line, status_rows

if TYPE_CHECKING:
    from codelens.answers.reading_answers import StatusAnswer
    from codelens.engine.upkeep.file_checks import Examination, Finding, State


def add_index(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "index", "update the index now (other commands do this automatically)"
    )
    parser.add_argument(
        "--rebuild", action="store_true", help="delete the repository's index and build it again"
    )
    shared_options.add_ref(parser)
    shared_options.add_json(parser)


def run_index(args: argparse.Namespace) -> int:
    """Finish indexing and print the status."""
    with asking() as (engine, bar):
        answer = engine.index(path=args.path, ref=args.ref, rebuild=args.rebuild, progress=bar)
    _show_status(answer, as_json=args.json)
    return 0


# `codelens status`.


def add_status(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "status", "show the current scope, how fresh the index is, and what was skipped"
    )
    parser.add_argument(
        "--all", action="store_true",
        help="instead, show every repository and view: size, age, last use, and why it "
             "would be pruned or kept",
    )  # fmt: skip
    shared_options.add_view(parser)


def run_status(args: argparse.Namespace) -> int:
    """Print the status."""
    with asking() as (engine, bar):
        if args.all:
            repositories = engine.overview()
            lines = upkeep_text.overview_lines(repositories)
            screen.show(repositories, upkeep_text.overview_json, lines, as_json=args.json)
            return 0
        answer = engine.status(**shared_options.view(args, engine, bar))
    _show_status(answer, as_json=args.json)
    return 0


def _show_status(answer: StatusAnswer, *, as_json: bool) -> None:
    if as_json:
        screen.put_json(reading_text.status_json(answer))
        return
    rows = status_rows(answer)
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        screen.field(f"{name:<{width}}", value)
    screen.say_all(answer.receipt)


# `codelens drop`.


def add_drop(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands,
        "drop",
        "remove a view, or the whole index of a repository",
        "Removes a view from the index. Saved contexts are kept. An active or pinned view "
        "is removed only with --force. A dropped view is rebuilt when it is next needed.",
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


def run_drop(args: argparse.Namespace) -> int:
    """Drop, and print what was removed.

    Raises:
        SettingError: the arguments name neither a view nor a repository, or both.
    """
    repository: str | None = args.repository
    if not args.view and repository is None:
        raise SettingError("nothing to drop; name a view, or give --repository")
    if args.view and repository is not None:
        raise SettingError(
            "a view and --repository cannot be combined; name a view, or give --repository"
        )
    with asking() as (engine, _):
        if repository is None:
            done = engine.drop(args.view, path=args.path, force=args.force)
        else:
            done = engine.drop_repository(path=args.path, repo_id=repository, force=args.force)
    screen.show(done, asdict, upkeep_text.dropped_lines(done), as_json=args.json)
    return 0


# `codelens pin` and `codelens unpin`.


def add_pin(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "pin", "keep the view of a branch or ref regardless of its age",
        "Pins a view, so that `prune` never removes it. A ref without a view gets one.",
    )  # fmt: skip
    _add_pinned(parser)


def _add_pinned(parser: argparse.ArgumentParser) -> None:
    """Define the arguments that `pin` and `unpin` share."""
    parser.add_argument(
        "view", nargs="?", default="", metavar="VIEW",
        help="a branch, a ref, a worktree's folder, or an id of `codelens status --all` "
        "(default: the current view)",
    )  # fmt: skip
    shared_options.add_json(parser)


def run_pin(args: argparse.Namespace) -> int:
    """Pin or unpin a view, and print it."""
    with asking() as (engine, bar):
        pinned = args.command == "pin"
        done = engine.pin(args.view, path=args.path, pinned=pinned, progress=bar)
    screen.show(done, asdict, [upkeep_text.pinned_line(done)], as_json=args.json)
    return 0


def add_unpin(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "unpin", "allow a pinned view to be pruned again",
        "Unpins a view, so that `prune` can remove it when it has expired.",
    )  # fmt: skip
    _add_pinned(parser)


run_unpin = run_pin


# `codelens prune`: removes unused views; suitable for cron.


def add_prune(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands,
        "prune",
        "remove views of branches and worktrees that have not been used for a long time",
        "Removes unused views from the indexes of all repositories (with -C, of one): "
        "views of branches that are not checked out (after 14 days), of detached HEADs (3 "
        "days), of removed worktrees (48 hours) and of refs (3 days), and all data that "
        "no view needs any more. Pinned views, active views of worktrees and recently used "
        "views are never removed. On a terminal, without --yes, it only shows what would be "
        "removed; elsewhere (cron) it removes views and prints nothing.",
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


def run_prune(args: argparse.Namespace) -> int:
    """Prune; return 2 if an index could not be pruned."""
    watched = sys.stdout.isatty()
    dry_run = args.dry_run or (watched and not args.yes)
    with asking() as (engine, _):
        only = getattr(args, "path", ".")
        answer = engine.prune(dry_run=dry_run, days=args.days, only=None if only == "." else only)
    if args.json or dry_run or args.yes:
        lines = upkeep_text.prune_lines(answer)
        screen.show(answer, upkeep_text.prune_json, lines, as_json=args.json)
    if answer.failed:
        errors = (result.error for result in answer.results if result.error)
        return standard_streams.fail("; ".join(errors))
    return 0


# `codelens usage`.

_BY = ("day", "tool", "repository")


def add_usage(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = commands.add_parser(
        "usage", help="show how much codelens was used, and what it saved",
        description="Shows calls of the command line and the MCP server by day, tool and "
        "repository, bytes served, and what reading whole files would have cost. The counts "
        "contain no queries or code and never leave this machine. CODELENS_USAGE=off turns "
        "counting off.",
        **shared_options.help_of("usage"), allow_abbrev=False,
    )  # fmt: skip
    shared_options.add_count(parser, "--days", 30, "number of days, including today")
    parser.add_argument("--by", choices=_BY, action="append", help="show only this chart")
    shared_options.add_json(parser)


def run_usage(args: argparse.Namespace) -> int:
    """Print the usage; return 1 if nothing was counted."""
    with asking() as (engine, _):
        answer = engine.usage(days=args.days)
    lines = upkeep_text.usage_text(answer, args.by or _BY)
    screen.show(answer, asdict, lines, as_json=args.json)
    if not answer.counted and not args.json:
        screen.say("note: usage is not counted: the setting `usage` is off")
    return 0 if answer.total.calls else 1


# `codelens doctor`: finds and fixes problems.

_SIGNS = {"ok": "ok", "note": "note", "mended": "fixed", "wrong": "WRONG"}
_STYLES = {"ok": "dim", "note": "kind", "mended": "bold", "wrong": "warn"}
_STATES: dict[str, State] = {"fine": "ok", "warning": "note", "broken": "wrong"}
"""State of a `HostCheck` -> state of a finding."""


def add_doctor(commands: shared_options.Commands) -> None:
    """Define the arguments."""
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


def run_doctor(args: argparse.Namespace) -> int:
    """Examine this machine and print findings; return 1 if problems remain."""
    from codelens.config import Settings, home_of
    from codelens.engine.upkeep.diagnosis import CHECKS, examine

    agents = () if args.no_agents else (("agents", _agents),)
    checks = (*CHECKS, ("settings of focus", _focus), *agents)
    findings: list[Finding] = []
    # Default settings, because the settings file may be the problem.
    settings = Settings(home=home_of())
    for finding in examine(settings, fix=args.fix, thorough=args.thorough, checks=checks):
        findings.append(finding)
        if not args.json:
            _show_findings(finding)
    wrong = sum(finding.state == "wrong" for finding in findings)
    mended = sum(finding.state == "mended" for finding in findings)
    if args.json:
        results = [{"check": finding.check, **finding._asdict()} for finding in findings]
        screen.put_json({"results": results, "wrong": wrong, "mended": mended})
    else:
        screen.say(_summary(wrong, mended, sum("--fix: " in finding.done for finding in findings)))
    return 1 if wrong else 0


def _focus(case: Examination) -> Iterator[Finding]:
    """Check the table `[focus]`; another check reports a settings file that cannot be read."""
    from codelens.config import damage_in
    from codelens.engine.upkeep.file_checks import settings_set_aside
    from codelens.focus.focus_settings import usable_settings

    _, damage = usable_settings(str(case.home))
    if damage and not damage_in(case.home):
        yield settings_set_aside(case, damage)


def _agents(case: Examination) -> Iterator[Finding]:
    """Check the entries of coding agents in the user scope by starting each server.

    `codelens install` fixes them; --fix does not, because the files belong to the user.
    """
    from codelens.engine.upkeep.file_checks import Finding
    from codelens.hosts.desired_edits import Request
    from codelens.hosts.host_checks import check_hosts
    from codelens.hosts.host_descriptor import hosts, this_machine

    request = Request(this_machine(), "user", None, "codelens")
    for check in check_hosts(list(hosts().values()), request):
        if check.state != "absent":
            about = f"{check.host} ({check.name})"
            yield Finding(_STATES[check.state], about, check.message, "")


def _show_findings(finding: Finding) -> None:
    done = f"; {one_line(finding.done)}" if finding.done else ""
    description = f"{finding.check}: {one_line(finding.about)}: {one_line(finding.found)}{done}"
    screen.field(f"{_SIGNS[finding.state]:<6}", description, _STYLES[finding.state])


def _summary(wrong: int, mended: int, mendable: int) -> str:
    if not wrong:
        return f"no problems{f', {mended:,} fixed' if mended else ''}"
    hint = f"; `codelens doctor --fix` fixes {mendable:,}" if mendable else ""
    problems = "problem" if wrong == 1 else "problems"
    return f"{wrong:,} {problems}, {mended:,} fixed{hint}"
