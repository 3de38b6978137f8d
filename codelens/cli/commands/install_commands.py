"""`codelens install` and `codelens uninstall`: configure coding agents to use codelens."""

from __future__ import annotations

import argparse
import difflib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from codelens.bearer_token import bearer_token
from codelens.cli import screen, shared_options
from codelens.config import home_of
from codelens.engine.worktree_paths import root_of
from codelens.errors import SettingError
from codelens.hosts import host_wiring as work
from codelens.hosts.desired_edits import (
    HttpAccess,
    Request,
    can_approve,
    can_ask_over_http,
    can_hook,
    entry_of,
    hooks_of,
)
from codelens.hosts.formats.entry_edits import snippet
from codelens.hosts.host_descriptor import (
    HookFile,
    Host,
    Machine,
    hosts,
    launcher,
    named,
    this_machine,
)
from codelens.hosts.install_ledger import Change, Ledger, alone
from codelens.paths import default_home
from codelens.render import reading_text
from codelens.render.text_pieces import one_line, safe


def add_install(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "install", "connect coding agents to codelens: MCP entry, skill, commands",
        "Connects coding agents to codelens. Shows the exact changes and asks before it writes; "
        "`codelens uninstall` removes them again. Without a terminal, --yes is required.",
    )  # fmt: skip
    _add_choice(parser)
    parser.add_argument(
        "--approve", action="store_true",
        help="let agents call read-only tools without asking each time",
    )  # fmt: skip
    parser.add_argument(
        "--hooks", action="store_true",
        help="let agents call codelens before prompts, at a session's start and around edits",
    )  # fmt: skip
    parser.add_argument(
        "--branches", action="store_true",
        help="also list the tools for branches and history (cl_diff, cl_history, cl_conflicts)",
    )  # fmt: skip
    parser.add_argument(
        "--http", action="store_true",
        help="let agents connect to a running server (`codelens serve --http`) with its token, "
        "instead of each starting their own",
    )  # fmt: skip
    parser.add_argument(
        "--port", metavar="N", type=shared_options.port, default=shared_options.HTTP_PORT,
        help=f"with --http: the port of that server (default: {shared_options.HTTP_PORT})",
    )  # fmt: skip
    parser.add_argument(
        "--print", dest="show", action="store_true",
        help="print the text to paste by hand; write nothing",
    )  # fmt: skip
    parser.add_argument(
        "--check", action="store_true",
        help="write nothing; check that configured entries start and answer",
    )  # fmt: skip
    parser.add_argument(
        "--command", metavar="PROGRAM", dest="program",
        help="the program that agents start (default: this codelens)",
    )  # fmt: skip


def _add_choice(parser: argparse.ArgumentParser) -> None:
    """Define the options that `install` and `uninstall` share."""
    parser.add_argument(
        "--host", metavar="NAMES", default="detected",
        help="comma-separated names, `all`, or `detected`: those found here (the default)",
    )  # fmt: skip
    parser.add_argument(
        "--scope", choices=("user", "project"), default="user",
        help="user: for all your repositories (the default); project: in this repository's files",
    )  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="show the changes; write nothing")
    parser.add_argument("--yes", "-y", action="store_true", help="write without asking")
    shared_options.add_json(parser)


def run_install(args: argparse.Namespace) -> int:
    """Configure the chosen hosts."""
    machine = this_machine()
    chosen = named(args.host, machine)
    if not chosen:
        screen.say(
            "no coding agent was found on this machine; "
            f"name one with --host: {', '.join(hosts())}, or all"
        )
        return 1
    request = _request_of(args)
    if args.http and not args.check:
        request = _over_http(args, request)
        chosen = _that_ask_over_http(chosen)
        if not chosen:
            return 1
    if args.show:
        return _print(chosen, request)
    if args.check:
        return _check(chosen, request, as_json=args.json)
    return _install(args, chosen, request)


def _over_http(args: argparse.Namespace, request: Request) -> Request:
    """The request, with the server that agents connect to.

    Raises:
        SettingError: the files are those of a project, or --branches was given.
    """
    if request.scope == "project":
        raise SettingError(
            "--http writes your token, which a project's files must not contain; use --scope user"
        )
    if request.branches:
        raise SettingError(
            "--branches only applies to a server that an agent starts; start the HTTP server "
            "with CODELENS_TOOLS=core,branches, and omit --branches"
        )
    token = bearer_token(home_of())
    access = HttpAccess(f"http://127.0.0.1:{args.port}/mcp", token.text)
    return replace(request, http=access)


def _that_ask_over_http(chosen: Sequence[Host]) -> Sequence[Host]:
    """The hosts that support HTTP; a note names the others."""
    able = can_ask_over_http(chosen)
    others = [host.name for host in chosen if host not in able]
    if others:
        screen.say(f"note: codelens cannot configure HTTP in {', '.join(others)}; left unchanged")
    return able


def _request_of(args: argparse.Namespace) -> Request:
    """Build the request from the arguments.

    Raises:
        CodelensError: the project scope has no repository, or the program does not exist.
    """
    project = args.scope == "project"
    # A file that a team shares must not contain a path of one user. A check starts the configured
    # programs, so it must not fail if the running codelens cannot be configured.
    bare = project or args.check
    command = (args.program or "codelens") if bare else launcher(args.program)
    root = Path(root_of(args.path)) if project else None
    return Request(
        this_machine(), args.scope, root, command, args.approve, args.hooks, args.branches
    )


def _install(args: argparse.Namespace, chosen: Sequence[Host], request: Request) -> int:
    home = default_home(dict(os.environ))
    ledger = Ledger(home)
    if ledger.note:
        screen.say(f"note: {ledger.note}")
    changes = work.plan_install(chosen, request, ledger)
    planned = any(change.is_change for change in changes)
    if planned and not (args.dry_run or args.yes) and screen.can_ask():
        # Ask before the changes are shown, so that they are complete.
        request = _with_consent(args, chosen, request)
        changes = work.plan_install(chosen, request, ledger)
    if not args.json and (args.dry_run or not args.yes):
        _show_diffs(changes, request.machine)
    if args.dry_run or not planned:
        return _ended(args, changes, chosen, request, planned=args.dry_run)
    if not args.yes:
        code = _stopped(changes, "Write these changes?")
        if code is not None:
            return code
    with alone(home):
        ledger = Ledger(home)  # read again: another install may have changed it
        changes = work.plan_install(chosen, request, ledger)
        done = [work.install(change, ledger, request.label) for change in changes]
    return _ended(args, done, chosen, request, planned=False)


def _with_consent(args: argparse.Namespace, chosen: Sequence[Host], request: Request) -> Request:
    """The request, with the user's answers about approvals, hooks and tools."""
    able = ", ".join(host.name for host in can_approve(chosen))
    if able and not args.approve:
        question = f"Let {able} call read-only tools without asking each time?"
        request = replace(request, approve=screen.agreed(question))
    able = ", ".join(host.name for host in can_hook(chosen, args.scope))
    if able and not args.hooks:
        question = (
            f"Let {able} run `codelens hook` at each prompt and answer, at a session's start and "
            "around edits, so that your requests stay in the model's context?"
        )
        request = replace(request, hooks=screen.agreed(question))
    if not args.branches and not args.http:
        question = (
            "Also list the tools for branches and history (cl_diff, cl_history, cl_conflicts)? "
            "Each listed tool costs tokens at every turn."
        )
        request = replace(request, branches=screen.agreed(question))
    return request


def _ended(
    args: argparse.Namespace, changes: Sequence[Change], chosen: Sequence[Host],
    request: Request, *, planned: bool,
) -> int:  # fmt: skip
    if args.json:
        screen.put_json(reading_text.results_json(_as_results(changes, planned=planned)))
        return 2 if _show_problems(changes) else 0
    # The user has just seen the files in the diffs.
    brief = not planned and not args.yes and any(change.is_change for change in changes)
    _show_table(changes, request.machine, planned=planned, brief=brief)
    failed = _show_problems(changes)
    served = {host for change in changes for host in change.hosts} - {
        host for change in changes for host, _ in change.problems
    }
    without = [host.name for host in chosen if host.name not in served and not failed]
    if without:
        screen.say(f"note: hosts without project files: {', '.join(without)} (--scope user)")
    if planned:
        screen.say("nothing was written (dry run)")
        return 2 if failed else 0
    _still_to_do(chosen, request, served)
    return 2 if failed else 0


def _still_to_do(chosen: Sequence[Host], request: Request, served: set[str]) -> None:
    screen.put()
    screen.put("Remaining steps for you:")
    steps: dict[str, list[str]] = {}
    for host in chosen:
        if host.name in served:
            for step in _steps(host, request):
                steps.setdefault(step, []).append(host.name)
    for step, names in steps.items():
        screen.put_safe(f"  {', '.join(names)}: {step}")
    if request.scope == "project":
        screen.put("  every user of this repository: put `codelens` on the PATH")
    screen.put("  then: `codelens install --check` checks that each entry starts and answers")


def _steps(host: Host, request: Request) -> Iterator[str]:
    """The steps that the user still has to do for a host."""
    if todo := host.todo.get(request.scope):
        yield todo
    if not request.approve and (todo := host.todo.get("not_approved")):
        yield todo
    if request.hooks and host.hooks and host.hooks.todo:
        yield host.hooks.todo


def _print(chosen: Sequence[Host], request: Request) -> int:
    for host in chosen:
        path = host.server.where.pick(request.machine, request.scope, request.root)
        if path is None:
            screen.say(f"note: {host.name} has no file in the {request.scope} scope")
            continue
        screen.put_safe(f"# {host.name}: {request.machine.shown(path)}")
        for line in snippet(entry_of(host, request)).splitlines():
            screen.put_safe(line)
        screen.put()
        if request.hooks and host.hooks:
            _print_hooks(host.hooks, request)
    return 0


def _print_hooks(hooks: HookFile, request: Request) -> None:
    path = hooks.where.pick(request.machine, request.scope, request.root)
    if path is not None:
        screen.put_safe(f"# hooks: {request.machine.shown(path)}")
        screen.put_safe(*hooks_of(hooks, request).put(None).splitlines(), "")


# `codelens uninstall`.


def add_uninstall(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "uninstall", "remove codelens from the configuration of coding agents",
        "Removes what `codelens install` wrote. A file that has not changed since is "
        "restored byte for byte; in any other file only codelens' own keys are removed. "
        "Indexes and saved contexts are kept.",
    )  # fmt: skip
    _add_choice(parser)
    parser.set_defaults(host="all")


def run_uninstall(args: argparse.Namespace) -> int:
    """Remove codelens from the files of the chosen hosts."""
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
        _show_diffs(changes, machine)
    if planned and not args.dry_run and not args.yes:
        code = _stopped(changes, "Remove these?")
        if code is not None:
            return code
    if not args.dry_run and (planned or ledger.records):
        with alone(home):
            ledger = Ledger(home)  # read again: another install may have changed it
            changes = work.plan_uninstall(named(args.host, machine), request, ledger)
            changes = [work.uninstall(change, ledger) for change in changes]
    for label in work.elsewhere(ledger, request.label):
        where = "your own files" if label == "user" else f"the project {label}"
        how = "--scope user" if label == "user" else f"--scope project -C {label}"
        screen.say(f"note: codelens remains in {where}; remove it: codelens uninstall {how}")
    return _report_uninstall(args, changes, machine, planned=planned)


def _report_uninstall(
    args: argparse.Namespace, changes: Sequence[Change], machine: Machine, *, planned: bool
) -> int:
    if args.json:
        screen.put_json(reading_text.results_json(_as_results(changes, planned=args.dry_run)))
    else:
        _show_table(changes, machine, planned=args.dry_run)
    failed = _show_problems(changes)
    if args.dry_run:
        screen.say("nothing was changed (dry run)")
    elif not planned and not failed:
        screen.say("found no configuration of codelens")
    return 2 if failed else 0


# Prints the results, and asks for consent.


def _check(chosen: Sequence[Host], request: Request, *, as_json: bool) -> int:
    """Check these hosts; 0 if every configured host works, 1 if none is configured, else 2."""
    from codelens.hosts.host_checks import check_hosts

    checks = check_hosts(chosen, request, ask_hosts=True)
    if as_json:
        # Programs read these keys since the first release.
        rows = [
            {"host": row.host, "name": row.name, "state": row.state, "said": row.message}
            for row in checks
        ]
        screen.put_json(reading_text.results_json(rows))
    else:
        width = max(len(host_check.host) for host_check in checks)
        for host_check in checks:
            style = {"fine": "dim", "absent": "dim"}.get(host_check.state, "warn")
            screen.field(
                f"{host_check.host:<{width}}  {host_check.state:<7}",
                one_line(host_check.message),
                style,
            )
    states = {host_check.state for host_check in checks}
    if "broken" in states:
        return 2
    return 1 if states == {"absent"} else 0


_TOKEN = re.compile(r"Bearer [A-Za-z0-9_-]{20,}")
_LONGEST = 200
"""Maximum number of lines of a diff; a skill is shorter."""


def _show_diffs(changes: Sequence[Change], machine: Machine) -> None:
    """Print the exact changes, file by file."""
    shown: dict[bytes, str] = {}
    for change in changes:
        name = machine.shown(change.path)
        if change.is_change and change.before is None and change.after in shown:
            # Every host gets the same skill.
            screen.put(screen.styled(safe(f"{name} (new)"), "bold"))
            screen.put_safe(f"  the same text as {shown[change.after]}", "")
        elif change.is_change:
            shown[change.after or b""] = name
            _show(change, name)


def _show(change: Change, name: str) -> None:
    before = (change.before or b"").decode("utf-8", "replace").splitlines()
    after = (change.after or b"").decode("utf-8", "replace").splitlines()
    lines = list(difflib.unified_diff(before, after, lineterm="", n=2))[2:]
    fate = "" if change.before is not None else " (new)"
    if change.after is None:
        fate = " (deleted)"
    screen.put(screen.styled(safe(f"{name}{fate}"), "bold"))
    if change.after is None and change.is_ours:
        screen.put_safe(f"  all {len(lines) - 1} lines were written by codelens", "")
        return
    for line in lines[:_LONGEST]:
        style = {"+": "good", "-": "bad"}.get(line[:1], "dim")
        # People share screenshots and logs of terminals.
        shown = _TOKEN.sub("Bearer (the token)", safe(line))
        screen.put(f"  {screen.styled(shown, style)}")
    if len(lines) > _LONGEST:
        screen.put(f"  ... {len(lines) - _LONGEST} more lines")
    screen.put()


def _stopped(changes: Sequence[Change], question: str) -> int | None:
    """Ask for consent; return an exit code to stop with, or None to continue.

    Without a terminal nothing is written: an agent or a script must pass --yes.
    """
    if not screen.can_ask():
        _show_problems(changes)
        screen.say(
            "codelens: error: nothing was written: there is no terminal to confirm on; pass --yes"
        )
        return 2
    if not screen.agreed(question):
        screen.say("nothing written")
        return 0
    return None


def _show_table(
    done: Sequence[Change], machine: Machine, *, planned: bool = False, brief: bool = False
) -> None:
    """Print what was done, in a row for each host and file; if `brief`, in a row for each host."""
    rows: list[tuple[str, str, str, str]] = []
    for change in done:
        failed = {host for host, _ in change.problems}
        for host in change.hosts:
            edits = ", ".join(
                dict.fromkeys(wish.edit.what for wish in change.wishes if wish.host == host)
            )
            fate = "left alone" if host in failed else _outcome(change, planned=planned)
            if fate:
                rows.append((host, fate, edits, machine.shown(change.path)))
    rows = _by_host(rows) if brief else _folded(rows)
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    padded = (
        [*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), row[3]]
        for row in sorted(rows)
    )
    screen.page(*("  ".join(cells).rstrip() for cells in padded))


def _outcome(change: Change, *, planned: bool) -> str:
    if change.removes:
        if not change.is_change:
            return "kept (shared)" if change.remarks else ""
        return "to be removed" if planned else "removed"
    if not change.is_change:
        return "left unchanged" if change.remarks else "up to date"
    return "to be written" if planned else "written"


def _by_host(rows: Sequence[tuple[str, str, str, str]]) -> list[tuple[str, str, str, str]]:
    """Merge the rows of each host, without the files."""
    groups: dict[tuple[str, str], list[str]] = {}
    for host, fate, edits, _ in rows:
        groups.setdefault((host, fate), []).append(edits)
    return [(*key, ", ".join(dict.fromkeys(parts)), "") for key, parts in groups.items()]


def _folded(rows: Sequence[tuple[str, str, str, str]]) -> list[tuple[str, str, str, str]]:
    """Merge the rows that differ only in the file."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for host, fate, edits, path in rows:
        groups.setdefault((host, fate, edits), []).append(path)
    return [
        (
            *key,
            paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more in its folder",
        )
        for key, paths in groups.items()
    ]


def _show_problems(changes: Sequence[Change]) -> bool:
    """Print remarks and problems; return whether there was a problem."""
    for change in changes:
        for remark in change.remarks:
            screen.say(f"note: {remark}")
    problems = dict.fromkeys((host, why) for change in changes for host, why in change.problems)
    by_reason: dict[str, list[str]] = {}
    for host, why in problems:
        by_reason.setdefault(why, []).append(host)
    for why, names in by_reason.items():
        screen.say(f"codelens: error: {', '.join(names)}: {why}")
    return bool(problems)


def _as_results(changes: Sequence[Change], *, planned: bool) -> list[dict[str, object]]:
    """The table as JSON rows."""
    return [
        {
            "host": host,
            "path": str(change.path),
            "what": [wish.edit.what for wish in change.wishes if wish.host == host],
            "changed": change.is_change and not planned,
            "would_change": change.is_change,
            "problems": [why for name, why in change.problems if name == host],
        }
        for change in changes
        for host in change.hosts or tuple(name for name, _ in change.problems)
    ]
