"""Install and uninstall: what would change (a plan), and doing it.

A plan is worked out without writing anything. Doing it takes each file by itself: one that fails
is reported and the others still done. A file that changed since the plan is edited anew.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codelens.errors import CodelensError
from codelens.hosts import files
from codelens.hosts.descriptor import Host
from codelens.hosts.edits import Edit, Entry, Flags, Items, Whole, recalled, record
from codelens.hosts.faults import LeftAlone, Overtaken
from codelens.hosts.formats import decoded, encoded
from codelens.hosts.ledger import Ledger, Record, Undo, digest
from codelens.hosts.started import NAME
from codelens.hosts.values import EditRefused, Keys
from codelens.hosts.wanted import Request, Wish, wishes
from codelens.paths import make_private

_BY_HAND = "or add it by hand (`codelens install --print` shows what)"
_KEPT = "left as it is (for the present one, take it out and install again)"
_TRIES = 20
"""How often a file is edited anew that another program writes meanwhile."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one file.

    Attributes:
        path: the real file.
        wanted: the edits by host; of an uninstall, those that leave.
        before: its bytes; None if there is none.
        after: what it will hold; None if it goes.
        problems: what could not be done, by host.
        remarks: what is worth knowing all the same.
        removes: whether this is an uninstall.
    """

    path: Path
    wanted: tuple[Wish, ...]
    before: bytes | None
    after: bytes | None
    problems: tuple[tuple[str, str], ...] = ()
    remarks: tuple[str, ...] = ()
    removes: bool = False

    @property
    def is_change(self) -> bool:
        """Whether the file will differ."""
        return self.before != self.after

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts it is for."""
        return tuple(dict.fromkeys(wish.host for wish in self.wanted))

    @property
    def is_ours(self) -> bool:
        """Whether the file is codelens' own as a whole."""
        return all(isinstance(wish.edit, Whole) for wish in self.wanted)


def _grouped(wanted: Iterable[Wish]) -> dict[Path, list[Wish]]:
    found: dict[Path, list[Wish]] = {}
    for wish in wanted:
        found.setdefault(wish.path, []).append(wish)
    return found


def plan_install(chosen: Sequence[Host], request: Request, ledger: Ledger) -> list[Change]:
    """What installing for these hosts would change, file by file."""
    wanted: list[Wish] = []
    failed: list[Change] = []
    for host in chosen:
        try:
            wanted += wishes(host, request)
        except CodelensError as error:
            failed.append(Change(Path(), (), None, None, ((host.name, str(error)),)))
    planned: list[Change] = []
    for path, group in _grouped(wanted).items():
        if request.root is not None and not path.is_relative_to(request.root.resolve()):
            why = str(LeftAlone(path, f"a link leads there out of {request.root}", _BY_HAND))
            hosts = dict.fromkeys(wish.host for wish in group)
            failed.append(Change(Path(), (), None, None, tuple((host, why) for host in hosts)))
        else:
            planned.append(_put(path, group, ledger.records.get(str(path))))
    return failed + planned


def _put(path: Path, wanted: Sequence[Wish], old: Record | None) -> Change:
    try:
        before = files.read(path)
        text = None if before is None else decoded(before)
    except CodelensError as error:
        return _nothing(path, wanted, None, str(error))
    except EditRefused as error:
        return _nothing(path, wanted, None, str(LeftAlone(path, str(error), _BY_HAND)))
    fresh, problems, remarks = text, list[tuple[str, str]](), list[str]()
    written = [] if old is None else _recalled(old, old.edits)
    for wish in wanted:
        try:
            if fresh is not None and wish.edit.is_changed(fresh, written):
                remarks.append(f"{path}: {wish.edit.what} was changed by hand since; {_KEPT}")
                continue
            if isinstance(wish.edit, Entry) and (said := wish.edit.fate(fresh)):
                remarks.append(f"{path} {said}")
            fresh = wish.edit.put(fresh)
        except EditRefused as error:
            remedy = f"mend it and install again, {_BY_HAND}"
            problems.append((wish.host, str(LeftAlone(path, f"{error}", remedy))))
    is_done = {wish.host for wish in wanted} - {host for host, _ in problems}
    after = before if fresh in (None, text) or not is_done else encoded(fresh, before or b"")
    return Change(
        path, tuple(wanted), before, after, tuple(problems), tuple(dict.fromkeys(remarks))
    )


def _nothing(path: Path, wanted: Sequence[Wish], data: bytes | None, why: str) -> Change:
    hosts = dict.fromkeys(wish.host for wish in wanted)
    return Change(path, tuple(wanted), data, data, tuple((host, why) for host in hosts))


def install(change: Change, ledger: Ledger, scope: str) -> Change:
    """Do one change of a plan; what was done, with its problems.

    A second host that finds its edit in a shared file is noted as one that needs it.
    """
    if not change.path.name:
        return change
    old = ledger.records.get(str(change.path))
    try:
        return _installed(_put(change.path, change.wanted, old), old, scope, ledger)
    except CodelensError as error:
        return _nothing(change.path, change.wanted, change.before, str(error))


def _installed(change: Change, old: Record | None, scope: str, ledger: Ledger) -> Change:
    done = _done(change)
    if not change.is_change:
        if old is not None and not {wish.host for wish in done} <= old.edits.keys():
            assert change.before is not None, "what is as it should be is there"
            found = _given_back(old, change.before)
            ledger.keep(change.path, replace(old, edits=_edits(old, done, found)))
        return change
    # Before the file: should this process end in between, uninstall knows of it.
    path, made = change.path, files.missing_folders(change.path)
    ledger.keep(path, _recorded(change, old, scope, ledger), made)
    try:
        fresh = _landed(change, lambda: _put(path, change.wanted, old))
    except CodelensError:
        ledger.keep(path, old)
        ledger.leave(path)
        raise
    if not fresh.is_change:
        ledger.keep(path, old)
        ledger.leave(path)
    elif fresh is not change:
        ledger.keep(path, _recorded(fresh, old, scope, ledger))
    return fresh


def _landed(change: Change, again: Callable[[], Change]) -> Change:
    """Write a change, planned `again` as often as another program was faster; what was written.

    Raises:
        Overtaken: it was faster each time.
        NotWritten: it failed.
    """
    files.sweep(change.path)
    for _ in range(_TRIES):
        if not change.is_change:
            return change
        try:
            if change.after is None:
                files.remove(change.path, holding=change.before)
            else:
                files.write(change.path, change.after, onto=change.before)
        except Overtaken:
            change = again()
        else:
            return change
    raise Overtaken(change.path)


def _done(change: Change) -> list[Wish]:
    failed = {host for host, _ in change.problems}
    return [wish for wish in change.wanted if wish.host not in failed]


def _edits(
    old: Record | None, done: Sequence[Wish], found: bytes | None
) -> dict[str, list[dict[str, object]]]:
    """What to write down by host; approvals that were `found` are the user's, not ours."""
    edits = dict(old.edits) if old is not None else {}
    text = None if found is None else decoded(found)
    for host in dict.fromkeys(wish.host for wish in done):
        fresh = [wish.edit for wish in done if wish.host == host]
        kept = [] if old is None else [
            edit for edit in _recalled(old, [host]) if _still_counts(edit, fresh)
        ]  # fmt: skip
        edits[host] = [record(_ours(edit, text)) for edit in fresh] + [record(one) for one in kept]
    return edits


def _still_counts(edit: Edit, fresh: Sequence[Edit]) -> bool:
    """Whether an earlier install approved something of which this one says nothing."""
    approvals = [one.keys for one in fresh if isinstance(one, Items | Flags)]
    return isinstance(edit, Items | Flags) and edit.keys not in approvals


def _ours(edit: Edit, found: str | None) -> Edit:
    try:
        return edit.lacking(found)
    except EditRefused:  # found in a state that install has mended since
        return edit


def _recorded(change: Change, old: Record | None, scope: str, ledger: Ledger) -> Record:
    """The record of an install; what was found is what stood before the first one."""
    assert change.after is not None, "an install leaves a file"
    found, done = change.before, _done(change)
    if old is not None and found is not None:
        found = _given_back(old, found)
    text = None if found is None else decoded(found)
    parents: list[Keys] = []
    for wish in done:
        try:
            parents += (keys for keys in wish.edit.parents(text) if keys not in parents)
        except EditRefused:  # found in a state that install has mended since
            continue
    backup = None if old is None else old.backup
    if backup is None and found is not None:
        backup = str(_backup(change.path, found, ledger.home))
    return Record(
        scope=scope,
        made=digest(change.after),
        undo=None if found is None else Undo.between(found, change.after),
        edits=_edits(old, done, found),
        parents=parents,
        backup=backup,
    )


def _given_back(old: Record, now: bytes) -> bytes | None:
    """What a file was before us: exactly, if it still is what we wrote, else without our edits."""
    if old.found_by(now):
        return None if old.undo is None else old.undo.applied(now)
    text: str | None = decoded(now)
    for edit in _recalled(old, old.edits):
        try:
            text = None if text is None else edit.take(text, old.parents)
        except EditRefused:
            continue
    if text is None or (old.undo is None and _says_nothing(text)):
        return None
    return encoded(text, now)


def _says_nothing(text: str) -> bool:
    """Whether a file that we made holds nothing that others have put in since."""
    return text.strip() in {"", "{}"}


def _recalled(old: Record, hosts: Iterable[str]) -> list[Edit]:
    found = (recalled(fields) for host in hosts for fields in old.edits.get(host, []))
    return [edit for edit in found if edit is not None]


def _backup(path: Path, data: bytes, home: Path) -> Path:
    """Keep the file that was found, under CODELENS_HOME: beside it, a host might read it."""
    folder = home / "backups"
    make_private(folder)
    day = datetime.datetime.now(tz=datetime.UTC).strftime("%Y-%m-%d")
    kept = folder / f"{day}-{digest(bytes(str(path), 'utf-8', 'surrogateescape'))[:8]}-{path.name}"
    files.write(kept, data)
    kept.chmod(0o600)
    return kept


def plan_uninstall(chosen: Sequence[Host], request: Request, ledger: Ledger) -> list[Change]:
    """What taking these hosts' wiring out would change, file by file.

    Looked at are the files of this machine as it is now and those that the ledger names: a variable
    like `CODEX_HOME` may have led elsewhere at the time of install.
    """
    names = {host.name for host in chosen}
    wanted: list[Wish] = []
    failed: list[Change] = []
    known = {
        host for one in ledger.records.values() if one.scope == request.label for host in one.edits
    }
    for host in chosen:
        try:
            # Which approvals install added, and which were the user's, the ledger alone knows.
            wanted += wishes(host, replace(request, approve=host.name not in known))
        except CodelensError as error:
            failed.append(Change(Path(), (), None, None, ((host.name, str(error)),), removes=True))
    for path, old in ledger.records.items():
        if old.scope == request.label:
            for host in old.edits.keys() & names:
                wanted += (Wish(host, Path(path), edit) for edit in _recalled(old, [host]))
    return failed + [_take(path, group, ledger) for path, group in _grouped(wanted).items()]


def _take(path: Path, wanted: Sequence[Wish], ledger: Ledger) -> Change:
    leaving = {wish.host for wish in wanted}
    old = ledger.records.get(str(path))
    try:
        before = files.read(path)
        if before is None:
            return Change(path, tuple(wanted), None, None, removes=True)
        text = decoded(before)
    except CodelensError as error:
        return replace(_nothing(path, wanted, None, str(error)), removes=True)
    except EditRefused as error:
        why = str(LeftAlone(path, str(error), "take codelens out by hand"))
        return replace(_nothing(path, wanted, None, why), removes=True)
    same = Change(path, tuple(wanted), before, before, removes=True)
    staying = sorted(old.edits.keys() - leaving) if old is not None else []
    if staying:
        return replace(same, remarks=(f"kept in {path}: {', '.join(staying)} uses it too",))
    if old is not None and old.found_by(before):
        return replace(
            same, after=_given_back(old, before), remarks=_back_again(old, before, wanted)
        )
    fresh, problems = _without(path, text, wanted, [] if old is None else old.parents)
    after = before if fresh == text else None if fresh is None else encoded(fresh, before)
    made_by_us = old.undo is None if old is not None else after == b""
    if made_by_us and fresh is not None and _says_nothing(fresh):
        after = None
    return replace(same, after=after, problems=tuple(problems))


def _back_again(old: Record, before: bytes, wanted: Sequence[Wish]) -> tuple[str, ...]:
    """What to say where install had found an entry for codelens that was not of the ledger."""
    found = _given_back(old, before)
    entries = [wish.edit for wish in wanted if isinstance(wish.edit, Entry)]
    if found is None or not any(_holds(edit, decoded(found)) for edit in entries):
        return ()
    return ("the entry for codelens that install had found is back; uninstall again to remove it",)


def _holds(edit: Edit, text: str) -> bool:
    try:
        return edit.is_there(text)
    except EditRefused:
        return False


def _without(
    path: Path, text: str, wanted: Sequence[Wish], parents: Sequence[Keys]
) -> tuple[str | None, list[tuple[str, str]]]:
    fresh: str | None = text
    problems: dict[str, str] = {}
    for wish in wanted:
        if fresh is None:
            break
        if isinstance(wish.edit, Whole) and not wish.edit.is_there(fresh):
            continue
        try:
            fresh = wish.edit.take(fresh, parents)
        except EditRefused as error:
            remedy = "take codelens out by hand if it is in there"
            problems.setdefault(wish.host, str(LeftAlone(path, str(error), remedy)))
    return fresh, list(problems.items())


def uninstall(change: Change, ledger: Ledger) -> Change:
    """Do one change of a plan; what was done, with its problems."""
    if not change.path.name:
        return change
    old = ledger.records.get(str(change.path))
    staying = {} if old is None else {
        host: edits for host, edits in old.edits.items() if host not in change.hosts
    }  # fmt: skip
    try:
        path, wanted = change.path, change.wanted
        change = _landed(_take(path, wanted, ledger), lambda: _take(path, wanted, ledger))
        if change.is_change and change.after is None and path.parent.name == NAME:
            files.remove_empty([path.parent])  # a skill's own folder
        if old is None:
            return change
        if staying:
            ledger.keep(change.path, replace(old, edits=staying))
        elif not change.problems:
            exact = change.before is None or old.found_by(change.before)
            ledger.keep(change.path, None)
            ledger.leave(change.path)
            if exact and old.backup is not None:
                files.remove(Path(old.backup))
                files.remove_empty([Path(old.backup).parent])
    except CodelensError as error:
        return replace(
            _nothing(change.path, change.wanted, change.before, str(error)), removes=True
        )
    return change


def elsewhere(ledger: Ledger, label: str) -> list[str]:
    """The other scopes that the ledger knows: `user` and roots of projects."""
    return sorted({one.scope for one in ledger.records.values()} - {label})
