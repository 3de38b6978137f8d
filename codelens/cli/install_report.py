"""Prints the results of `install`, `uninstall` and `install --check`, and asks for consent."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from codelens.cli import screen, standard_streams
from codelens.render import reading_text
from codelens.render.text_pieces import one_line, safe

if TYPE_CHECKING:
    from codelens.hosts.desired_edits import Request
    from codelens.hosts.host_descriptor import Host, Machine
    from codelens.hosts.install_ledger import Change


def check(chosen: Sequence[Host], request: Request, *, as_json: bool) -> int:
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


def show_diffs(changes: Sequence[Change], machine: Machine) -> None:
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


def can_ask() -> bool:
    """Whether stdin and stdout are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def agreed(question: str) -> bool:
    """Ask the user; an empty answer means no."""
    standard_streams.emit(f"{question} [y/N] ")
    standard_streams.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def stopped(changes: Sequence[Change], question: str) -> int | None:
    """Ask for consent; return an exit code to stop with, or None to continue.

    Without a terminal nothing is written: an agent or a script must pass --yes.
    """
    if not can_ask():
        show_problems(changes)
        screen.say(
            "codelens: error: nothing was written: there is no terminal to confirm on; pass --yes"
        )
        return 2
    if not agreed(question):
        screen.say("nothing written")
        return 0
    return None


def show_table(
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


def show_problems(changes: Sequence[Change]) -> bool:
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


def as_results(changes: Sequence[Change], *, planned: bool) -> list[dict[str, object]]:
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
