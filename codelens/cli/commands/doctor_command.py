"""`codelens doctor`: what is wrong here, and mending it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codelens.cli import shared_options

if TYPE_CHECKING:
    from codelens.engine.doctor.diagnosis import CheckResult
    from codelens.engine.doctor.findings import Examination, Finding, State

_SIGNS = {"ok": "ok", "note": "note", "mended": "fixed", "wrong": "WRONG"}
_STYLES = {"ok": "dim", "note": "kind", "mended": "bold", "wrong": "warn"}
_STATES: dict[str, State] = {"fine": "ok", "warning": "note", "broken": "wrong"}
"""States of a `HostCheck` as findings."""


def add(commands: shared_options.Commands) -> None:
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
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Examine and print; 1 if something is wrong and stays so."""
    from codelens.cli import screen
    from codelens.config import Settings, home_of
    from codelens.engine.doctor.diagnosis import CHECKS, examine

    agents = () if args.no_agents else (("agents", _agents),)
    checks = (*CHECKS, ("settings of focus", _focus), *agents)
    findings: list[CheckResult] = []
    # The settings may be what is wrong.
    settings = Settings(home=home_of())
    for finding in examine(settings, fix=args.fix, thorough=args.thorough, checks=checks):
        findings.append(finding)
        if not args.json:
            _show(finding)
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
    from codelens.engine.doctor.file_checks import settings_set_aside
    from codelens.focus.focus_settings import usable_settings

    _, damage = usable_settings(str(case.home))
    if damage and not damage_in(case.home):
        yield settings_set_aside(case, damage)


def _agents(case: Examination) -> Iterator[Finding]:
    """The entries of coding agents in the user's scope, each started; none where none is wired.

    They are fixed by `codelens install`, never by --fix: the files are the user's.
    """
    from codelens.engine.doctor.findings import Finding
    from codelens.hosts.desired_edits import Request
    from codelens.hosts.host_checks import check_hosts
    from codelens.hosts.host_descriptor import hosts
    from codelens.hosts.machine import this_machine

    request = Request(this_machine(), "user", None, "codelens")
    for check in check_hosts(list(hosts().values()), request):
        if check.state != "absent":
            yield Finding(
                _STATES[check.state],
                f"{check.host} ({check.name})",
                check.message,
                "",
            )


def _show(check_result: CheckResult) -> None:
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
