"""What the ledger is told of an install, and what a record gives back: the file that was found."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from pathlib import Path

from codelens.hosts import host_files
from codelens.hosts.desired_edits import Wish
from codelens.hosts.file_change import Change
from codelens.hosts.formats.config_formats import decoded, encoded
from codelens.hosts.formats.config_values import EditRefused, Keys
from codelens.hosts.formats.edit_records import recalled, record
from codelens.hosts.formats.entry_edits import Edit, Flags, Items
from codelens.hosts.formats.hook_edits import Hooks
from codelens.hosts.install_ledger import Ledger, Record, Undo, digest
from codelens.paths import make_private


def edits_after(
    old: Record | None, done: Sequence[Wish], data_found: bytes | None
) -> dict[str, list[dict[str, object]]]:
    """What to write down by host; approvals that were `data_found` are the user's, not ours."""
    edits = dict(old.edits) if old is not None else {}
    text = None if data_found is None else decoded(data_found)
    for host in dict.fromkeys(wish.host for wish in done):
        fresh = [wish.edit for wish in done if wish.host == host]
        kept_edits = [] if old is None else [
            edit for edit in edits_of(old, [host]) if _still_counts(edit, fresh)
        ]  # fmt: skip
        edits[host] = [record(_ours(edit, text)) for edit in fresh] + [
            record(edit) for edit in kept_edits
        ]
    return edits


def _still_counts(edit: Edit, fresh: Sequence[Edit]) -> bool:
    """Whether an earlier install approved or hooked something of which this one says nothing."""
    fresh_keys = [
        recorded.keys for recorded in fresh if isinstance(recorded, Items | Flags | Hooks)
    ]
    return isinstance(edit, Items | Flags | Hooks) and edit.keys not in fresh_keys


def _ours(edit: Edit, text_found: str | None) -> Edit:
    try:
        return edit.lacking(text_found)
    except EditRefused:  # found in a state that install has mended since
        return edit


def recorded(change: Change, old: Record | None, scope: str, ledger: Ledger) -> Record:
    """The record of an install; what was found is what stood before the first one."""
    assert change.after is not None, "an install leaves a file"
    found_bytes, done = change.before, change.done
    if old is not None and found_bytes is not None:
        found_bytes = given_back(old, found_bytes)
    text = None if found_bytes is None else decoded(found_bytes)
    parents: list[Keys] = []
    for wish in done:
        try:
            parents += (keys for keys in wish.edit.parents(text) if keys not in parents)
        except EditRefused:  # found in a state that install has mended since
            continue
    backup = None if old is None else old.backup
    if backup is None and found_bytes is not None:
        backup = str(_backup(change.path, found_bytes, ledger.home))
    return Record(
        scope=scope,
        made=digest(change.after),
        undo=None if found_bytes is None else Undo.between(found_bytes, change.after),
        edits=edits_after(old, done, found_bytes),
        parents=parents,
        backup=backup,
    )


def given_back(old: Record, now: bytes) -> bytes | None:
    """What a file was before us: exactly, if it still is what we wrote, else without our edits."""
    if old.found_by(now):
        return None if old.undo is None else old.undo.applied(now)
    text: str | None = decoded(now)
    for edit in edits_of(old, old.edits):
        try:
            text = None if text is None else edit.take(text, old.parents)
        except EditRefused:
            continue
    if text is None or (old.undo is None and says_nothing(text)):
        return None
    return encoded(text, now)


def says_nothing(text: str) -> bool:
    """Whether a file that we made holds nothing that others have put in since."""
    return text.strip() in {"", "{}"}


def hooked(records: Iterable[Record], scope: str) -> set[str]:
    """The hosts that have hooks of ours in a scope: they are renewed with all else."""
    return {
        host
        for record in records
        if record.scope == scope
        for host in record.edits
        if any(isinstance(edit, Hooks) for edit in edits_of(record, [host]))
    }


def edits_of(old: Record, hosts: Iterable[str]) -> list[Edit]:
    """The edits made for these hosts, as far as this version understands what is written down."""
    recorded = (recalled(fields) for host in hosts for fields in old.edits.get(host, []))
    return [edit for edit in recorded if edit is not None]


def _backup(path: Path, data: bytes, home: Path) -> Path:
    """Keep the file that was found, under CODELENS_HOME: beside it, a host might read it."""
    folder = home / "backups"
    make_private(folder)
    day = datetime.datetime.now(tz=datetime.UTC).strftime("%Y-%m-%d")
    copy = folder / f"{day}-{digest(bytes(str(path), 'utf-8', 'surrogateescape'))[:8]}-{path.name}"
    host_files.write(copy, data)
    copy.chmod(0o600)
    return copy
