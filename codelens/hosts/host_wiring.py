"""Install and uninstall: plans the changes, then makes them.

A plan writes nothing. Its changes are made file by file: if one fails, it is reported and the
others are still made. A file that changed after the plan is planned again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from codelens.errors import CodelensError
from codelens.hosts import host_files
from codelens.hosts.desired_edits import Request, Wish, wishes
from codelens.hosts.formats.config_formats import decoded, encoded
from codelens.hosts.formats.config_values import EditRefused, Keys
from codelens.hosts.formats.entry_edits import Edit, Entry, Whole
from codelens.hosts.host_descriptor import NAME, Host
from codelens.hosts.host_files import NotEditable
from codelens.hosts.install_ledger import (
    Change,
    Ledger,
    Record,
    back_up,
    by_file,
    drop_backup,
    edits_after,
    edits_of,
    given_back,
    hooked,
    landed,
    original,
    recorded,
    says_nothing,
    untouched,
)

_BY_HAND = "or add the entry by hand (`codelens install --print` shows it)"
_KEPT = "left unchanged (to update it, remove it and install again)"


def plan_install(chosen: Sequence[Host], request: Request, ledger: Ledger) -> list[Change]:
    """The changes of an install for these hosts, file by file."""
    wishes_by_file: list[Wish] = []
    failed: list[Change] = []
    with_hooks = hooked(ledger.records.values(), request.label)
    for host in chosen:
        try:
            hooks = request.hooks or host.name in with_hooks
            wishes_by_file += wishes(host, replace(request, hooks=hooks))
        except CodelensError as error:
            failed.append(Change(Path(), (), None, None, ((host.name, str(error)),)))
    planned: list[Change] = []
    for path, group in by_file(wishes_by_file).items():
        if request.root is not None and not path.is_relative_to(request.root.resolve()):
            why = str(NotEditable(path, f"a symbolic link points outside {request.root}", _BY_HAND))
            hosts = dict.fromkeys(wish.host for wish in group)
            failed.append(Change(Path(), (), None, None, tuple((host, why) for host in hosts)))
        else:
            planned.append(_put(path, group, ledger.records.get(str(path))))
    return failed + planned


def _put(path: Path, wishes: Sequence[Wish], old: Record | None) -> Change:
    try:
        before = host_files.read(path)
        text = None if before is None else decoded(before)
    except CodelensError as error:
        return untouched(path, wishes, None, str(error))
    except EditRefused as error:
        return untouched(path, wishes, None, str(NotEditable(path, str(error), _BY_HAND)))
    fresh, problems, remarks = text, list[tuple[str, str]](), list[str]()
    over_http = (wish.edit for wish in wishes if isinstance(wish.edit, Entry))
    if any(edit.is_over_http for edit in over_http) and host_files.others_read(path):
        remarks.append(f"{path}: other users can read this file and its token; run chmod 600 on it")
    written = [] if old is None else edits_of(old, old.edits)
    for wish in wishes:
        try:
            if fresh is not None and wish.edit.is_changed(fresh, written):
                remarks.append(f"{path}: {wish.edit.what} was later changed by hand; {_KEPT}")
                continue
            if isinstance(wish.edit, Entry) and (fate := wish.edit.fate(fresh)):
                remarks.append(f"{path} {fate}")
            fresh = wish.edit.put(fresh)
        except EditRefused as error:
            remedy = f"correct it and install again, {_BY_HAND}"
            problems.append((wish.host, str(NotEditable(path, f"{error}", remedy))))
    is_done = {wish.host for wish in wishes} - {host for host, _ in problems}
    after = before if fresh in (None, text) or not is_done else encoded(fresh, before or b"")
    return Change(
        path, tuple(wishes), before, after, tuple(problems), tuple(dict.fromkeys(remarks))
    )


def install(change: Change, ledger: Ledger, scope: str) -> Change:
    """Make one change of a plan; return what was done, with its problems.

    If a second host finds its edit in a shared file, the ledger records that it needs it too.
    """
    if not change.path.name:
        return change
    old = ledger.records.get(str(change.path))
    try:
        return _installed(_put(change.path, change.wishes, old), old, scope, ledger)
    except CodelensError as error:
        return untouched(change.path, change.wishes, change.before, str(error))


def _installed(change: Change, old: Record | None, scope: str, ledger: Ledger) -> Change:
    done = change.done
    if not change.is_change:
        if old is not None and not {wish.host for wish in done} <= old.edits.keys():
            assert change.before is not None, "an unchanged file exists"
            old_bytes = given_back(old, change.before)
            ledger.keep(change.path, replace(old, edits=edits_after(old, done, old_bytes)))
        return change
    # Recorded before anything is written, so that uninstall knows about it even if this process is
    # killed in between.
    path, paths = change.path, host_files.missing_folders(change.path)
    found_bytes = original(change, old)
    record = recorded(change, old, scope, ledger.home, found_bytes)
    ledger.keep(path, record, paths)
    try:
        back_up(record, found_bytes)
        fresh = landed(change, lambda: _put(path, change.wishes, old))
    except CodelensError:
        _revert(path, record, old, ledger)
        raise
    if not fresh.is_change:
        _revert(path, record, old, ledger)
    elif fresh is not change:
        found_bytes = original(fresh, old)
        newer = recorded(fresh, old, scope, ledger.home, found_bytes)
        ledger.keep(path, newer)
        back_up(newer, found_bytes)
        if newer.backup != record.backup:
            drop_backup(record)
    return fresh


def _revert(path: Path, record: Record, old: Record | None, ledger: Ledger) -> None:
    """Undo the record of an install that changed nothing."""
    if old is None or old.backup != record.backup:
        drop_backup(record)
    ledger.revert(path, old)


def plan_uninstall(chosen: Sequence[Host], request: Request, ledger: Ledger) -> list[Change]:
    """The changes of an uninstall for these hosts, file by file.

    It includes the hosts' current files and those in the ledger, because a variable such as
    `CODEX_HOME` may have had another value at install.
    """
    names = {host.name for host in chosen}
    to_remove: list[Wish] = []
    failed: list[Change] = []
    hosts_in_ledger = {
        host
        for record in ledger.records.values()
        if record.scope == request.label
        for host in record.edits
    }
    for host in chosen:
        try:
            # Only the ledger knows which approvals install added and which were the user's.
            unknown = host.name not in hosts_in_ledger
            every = replace(request, approve=unknown, hooks=unknown, branches=unknown)
            to_remove += wishes(host, every)
        except CodelensError as error:
            failed.append(Change(Path(), (), None, None, ((host.name, str(error)),), removes=True))
    for path, old in ledger.records.items():
        if old.scope == request.label:
            for host in old.edits.keys() & names:
                to_remove += (Wish(host, Path(path), edit) for edit in edits_of(old, [host]))
    return failed + [_take(path, group, ledger) for path, group in by_file(to_remove).items()]


def _take(path: Path, wishes: Sequence[Wish], ledger: Ledger) -> Change:
    leaving = {wish.host for wish in wishes}
    old = ledger.records.get(str(path))
    try:
        before = host_files.read(path)
        if before is None:
            return Change(path, tuple(wishes), None, None, removes=True)
        text = decoded(before)
    except CodelensError as error:
        return replace(untouched(path, wishes, None, str(error)), removes=True)
    except EditRefused as error:
        why = str(NotEditable(path, str(error), "remove codelens by hand"))
        return replace(untouched(path, wishes, None, why), removes=True)
    same = Change(path, tuple(wishes), before, before, removes=True)
    staying = sorted(old.edits.keys() - leaving) if old is not None else []
    if staying:
        return replace(same, remarks=(f"kept in {path}: {', '.join(staying)} also uses it",))
    if old is not None and old.found_by(before):
        return replace(
            same, after=given_back(old, before), remarks=_restored_entry_remark(old, before, wishes)
        )
    fresh, problems = _without(path, text, wishes, [] if old is None else old.parents)
    after = before if fresh == text else None if fresh is None else encoded(fresh, before)
    made_by_us = old.undo is None if old is not None else after == b""
    if made_by_us and fresh is not None and says_nothing(fresh):
        after = None
    return replace(same, after=after, problems=tuple(problems))


def _restored_entry_remark(old: Record, before: bytes, wishes: Sequence[Wish]) -> tuple[str, ...]:
    """The remark if install found an entry for codelens that was not in the ledger."""
    old_bytes = given_back(old, before)
    entries = [wish.edit for wish in wishes if isinstance(wish.edit, Entry)]
    if old_bytes is None or not any(_holds(edit, decoded(old_bytes)) for edit in entries):
        return ()
    return (
        "the codelens entry that existed before install was restored; uninstall again to remove it",
    )


def _holds(edit: Edit, text: str) -> bool:
    try:
        return edit.is_there(text)
    except EditRefused:
        return False


def _without(
    path: Path, text: str, wishes: Sequence[Wish], parents: Sequence[Keys]
) -> tuple[str | None, list[tuple[str, str]]]:
    fresh: str | None = text
    problems: dict[str, str] = {}
    for wish in wishes:
        if fresh is None:
            break
        if isinstance(wish.edit, Whole) and not wish.edit.is_there(fresh):
            continue
        try:
            fresh = wish.edit.take(fresh, parents)
        except EditRefused as error:
            remedy = "remove codelens from it by hand"
            problems.setdefault(wish.host, str(NotEditable(path, str(error), remedy)))
    return fresh, list(problems.items())


def uninstall(change: Change, ledger: Ledger) -> Change:
    """Make one change of a plan; return what was done, with its problems."""
    if not change.path.name:
        return change
    old = ledger.records.get(str(change.path))
    staying = {} if old is None else {
        host: edits for host, edits in old.edits.items() if host not in change.hosts
    }  # fmt: skip
    try:
        path, wishes = change.path, change.wishes
        change = landed(_take(path, wishes, ledger), lambda: _take(path, wishes, ledger))
        if change.is_change and change.after is None and path.parent.name == NAME:
            host_files.remove_empty([path.parent])  # a skill's own folder
        if old is None:
            return change
        if staying:
            ledger.keep(change.path, replace(old, edits=staying))
        elif not change.problems:
            if _is_given_back(change, old):
                drop_backup(old)
            ledger.revert(change.path, None)
    except CodelensError as error:
        return replace(
            untouched(change.path, change.wishes, change.before, str(error)), removes=True
        )
    return change


def _is_given_back(change: Change, old: Record) -> bool:
    """Whether the file has its original bytes, so that the backup is of no use."""
    if change.before is None or old.found_by(change.before):
        return True
    return old.backup is not None and host_files.read(Path(old.backup)) == change.after


def elsewhere(ledger: Ledger, label: str) -> list[str]:
    """The other scopes in the ledger: `user` and roots of projects."""
    return sorted({record.scope for record in ledger.records.values()} - {label})
