"""`codelens uninstall`: take out what `codelens install` put into the files of coding agents."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from codelens.cli import shared_options
from codelens.cli.commands.install_command import add_choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codelens.hosts.file_change import Change
    from codelens.hosts.machine import Machine


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "uninstall", "remove codelens from the configuration of coding agents",
        "Removes what `codelens install` wrote. A file that has not changed since is "
        "restored byte for byte; in any other file only codelens' own keys are removed. "
        "Indexes and saved contexts are kept.",
    )  # fmt: skip
    add_choice(parser)
    parser.set_defaults(run=run, host="all")


def run(args: argparse.Namespace) -> int:
    """Take it out."""
    import os
    from pathlib import Path

    from codelens.cli import install_report, screen
    from codelens.engine.worktree_paths import root_of
    from codelens.hosts import host_wiring as work
    from codelens.hosts.desired_edits import Request
    from codelens.hosts.host_descriptor import named
    from codelens.hosts.install_ledger import Ledger
    from codelens.hosts.install_lock import alone
    from codelens.hosts.machine import this_machine
    from codelens.paths import default_home

    machine = this_machine()
    root = Path(root_of(args.path)) if args.scope == "project" else None
    request = Request(machine, args.scope, root, "codelens")
    home = default_home(dict(os.environ))
    ledger = Ledger(home)
    if ledger.note:
        screen.say(f"note: {ledger.note}")
    changes = work.plan_uninstall(named(args.host, machine), request, ledger)
    planned = any(change.is_change for change in changes)
    if not args.json and (args.dry_run or not args.yes):
        install_report.show_diffs(changes, machine)
    if planned and not args.dry_run and not args.yes:
        code = install_report.stopped(changes, "Remove these?")
        if code is not None:
            return code
    if not args.dry_run and (planned or ledger.records):
        with alone(home):
            ledger = Ledger(home)  # as others have left it that were at it until now
            changes = work.plan_uninstall(named(args.host, machine), request, ledger)
            changes = [work.uninstall(change, ledger) for change in changes]
    for label in work.elsewhere(ledger, request.label):
        where = "your own files" if label == "user" else f"the project {label}"
        how = "--scope user" if label == "user" else f"--scope project -C {label}"
        screen.say(f"note: {where} still have it: codelens uninstall {how}")
    return _told(args, changes, machine, planned=planned)


def _told(
    args: argparse.Namespace, changes: Sequence[Change], machine: Machine, *, planned: bool
) -> int:
    from codelens.cli import install_report, screen
    from codelens.render import reading_json

    if args.json:
        screen.put_json(
            reading_json.results(install_report.as_results(changes, planned=args.dry_run))
        )
    else:
        install_report.show_table(changes, machine, planned=args.dry_run)
    failed = install_report.show_problems(changes)
    if args.dry_run:
        screen.say("nothing was changed (dry run)")
    elif not planned and not failed:
        screen.say("no configuration of codelens was found")
    return 2 if failed else 0
