"""The ledger of installs, in `CODELENS_HOME/install.json`, which lets uninstall restore files.

It also has the lock that allows only one install or uninstall at a time, and makes the changes
safely while other programs write the same files.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from codelens import home_files
from codelens.hosts import host_files
from codelens.hosts.desired_edits import Wish
from codelens.hosts.formats.config_formats import decoded, encoded
from codelens.hosts.formats.config_values import EditRefused, Keys
from codelens.hosts.formats.entry_edits import Block, Edit, Entry, Flags, Items, Whole
from codelens.hosts.formats.hook_edits import Hooks
from codelens.hosts.host_files import HostError, InstallRunning, NotWritten, Overtaken
from codelens.paths import make_private

_WAIT_S = 30.0
"""Seconds; an install of all hosts takes less than ten on a slow disk."""
_LOOK_S = 0.05


@contextlib.contextmanager
def alone(home: Path, wait_s: float = _WAIT_S) -> Generator[None]:
    """Lock out other installs and uninstalls with this CODELENS_HOME.

    Otherwise each would write a ledger without the other's files. The operating system releases
    the lock when the process ends, in any way.

    Args:
        home: CODELENS_HOME.
        wait_s: how many seconds to wait for another one.

    Raises:
        InstallRunning: another one still runs.
        NotWritten: the lock cannot be created.
        HomeNotWritable: CODELENS_HOME cannot be created.
    """
    make_private(home)
    path = home / "install.lock"
    descriptor = _locked(path, time.monotonic() + wait_s)
    try:
        host_files.sweep(home / "install.json")
        yield
    finally:
        # Deleted while we have the lock; later, it could be another process's file. Windows forbids
        # this.
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(descriptor)


def _locked(path: Path, until: float) -> int:
    while True:
        try:
            descriptor = home_files.open_locked(path)
            if _has_lock(descriptor, path):
                return descriptor
        except OSError as error:
            raise NotWritten(path, (error.strerror or str(error)).lower()) from error
        if time.monotonic() > until:
            raise InstallRunning(path)
        time.sleep(_LOOK_S)


def _has_lock(descriptor: int, path: Path) -> bool:
    """Lock the file, if it still is the file at `path`; otherwise close the descriptor."""
    is_locked = False
    try:
        # The process that had the lock has deleted its file, so `path` may be another file now.
        is_locked = home_files.take_lock(descriptor) and _is_at(descriptor, path)
    finally:
        if not is_locked:
            os.close(descriptor)
    return is_locked


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


# Edits as JSON in the ledger, so that uninstall also removes edits of older versions.

_KINDS = {kind.__name__: kind for kind in (Entry, Items, Flags, Block, Whole, Hooks)}


def record(edit: Edit) -> dict[str, object]:
    """The edit as JSON fields."""
    fields: dict[str, object] = asdict(edit)  # type: ignore[reportArgumentType]
    return {"edit": type(edit).__name__, **fields}


def recalled(fields: dict[str, object]) -> Edit | None:
    """The edit from the fields of `record`; None if this version does not understand them."""
    kind = _KINDS.get(str(fields.get("edit")))
    if kind is None:
        return None
    arguments = {name: value for name, value in fields.items() if name != "edit"}
    for name in ("keys", "items"):
        if name in arguments:
            arguments[name] = tuple(cast("list[str]", arguments[name]))
    if "also" in arguments:
        arguments["also"] = tuple(
            tuple(keys) for keys in cast("list[list[str]]", arguments["also"])
        )
    try:
        return cast("Edit", kind(**arguments))  # type: ignore[reportArgumentType]
    except TypeError:
        return None


# Makes a change to one file that other programs may write, too.

_TRIES = 20
"""How often to retry if another program writes the file meanwhile."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change to one file.

    Attributes:
        path: the real file.
        wishes: the edits by host; for an uninstall, the edits to remove.
        before: its bytes; None if it does not exist.
        after: its bytes after the change; None if it is deleted.
        problems: what could not be done, by host.
        remarks: other messages for the user.
        removes: whether this is an uninstall.
    """

    path: Path
    wishes: tuple[Wish, ...]
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
        """The hosts that it is for."""
        return tuple(dict.fromkeys(wish.host for wish in self.wishes))

    @property
    def done(self) -> list[Wish]:
        """The edits of the hosts without problems."""
        failed = {host for host, _ in self.problems}
        return [wish for wish in self.wishes if wish.host not in failed]

    @property
    def is_private(self) -> bool:
        """Whether the file will contain a token, so that only its owner should read it."""
        edits = (wish.edit for wish in self.wishes)
        return any(isinstance(edit, Entry) and edit.is_over_http for edit in edits)

    @property
    def is_ours(self) -> bool:
        """Whether codelens owns the whole file."""
        return all(isinstance(wish.edit, Whole) for wish in self.wishes)


def by_file(wishes: Iterable[Wish]) -> dict[Path, list[Wish]]:
    """The edits by file."""
    wishes_by_file: dict[Path, list[Wish]] = {}
    for wish in wishes:
        wishes_by_file.setdefault(wish.path, []).append(wish)
    return wishes_by_file


def untouched(path: Path, wishes: Sequence[Wish], data: bytes | None, why: str) -> Change:
    """A file that stays unchanged, with a problem for all hosts that have edits in it."""
    hosts = dict.fromkeys(wish.host for wish in wishes)
    return Change(path, tuple(wishes), data, data, tuple((host, why) for host in hosts))


def landed(change: Change, again: Callable[[], Change]) -> Change:
    """Write a change and return it; plan it `again` if another program wrote the file meanwhile.

    Raises:
        Overtaken: another program wrote the file each time.
        NotWritten: the file cannot be written.
    """
    host_files.sweep(change.path)
    for _ in range(_TRIES):
        if not change.is_change:
            return change
        try:
            if change.after is None:
                host_files.remove(change.path, holding=change.before)
            else:
                host_files.write(
                    change.path, change.after, onto=change.before, private=change.is_private
                )
        except Overtaken:
            change = again()
        else:
            return change
    raise Overtaken(change.path)


# Records an install, and restores the original file from the record.


def edits_after(
    old: Record | None, done: Sequence[Wish], data_found: bytes | None
) -> dict[str, list[dict[str, object]]]:
    """The edits to record by host; approvals that are in `data_found` are the user's."""
    edits = dict(old.edits) if old is not None else {}
    text = None if data_found is None else decoded(data_found)
    for host in dict.fromkeys(wish.host for wish in done):
        fresh = [wish.edit for wish in done if wish.host == host]
        kept_edits = [] if old is None else [
            edit for edit in edits_of(old, [host]) if _still_counts(edit, fresh)
        ]  # fmt: skip
        edits[host] = [record(_added_by_install(edit, text)) for edit in fresh] + [
            record(edit) for edit in kept_edits
        ]
    return edits


def _still_counts(edit: Edit, fresh: Sequence[Edit]) -> bool:
    """Whether an earlier install approved or hooked something that this one does not mention."""
    fresh_keys = [
        recorded.keys for recorded in fresh if isinstance(recorded, Items | Flags | Hooks)
    ]
    return isinstance(edit, Items | Flags | Hooks) and edit.keys not in fresh_keys


def _added_by_install(edit: Edit, text_found: str | None) -> Edit:
    try:
        return edit.lacking(text_found)
    except EditRefused:  # the original was broken, and install fixed it
        return edit


def original(change: Change, old: Record | None) -> bytes | None:
    """The file before the first install."""
    if old is None or change.before is None:
        return change.before
    return given_back(old, change.before)


def recorded(
    change: Change, old: Record | None, scope: str, home: Path, found_bytes: bytes | None
) -> Record:
    """The record of an install; `found_bytes` is the original file."""
    assert change.after is not None, "an install leaves a file"
    done = change.done
    text = None if found_bytes is None else decoded(found_bytes)
    parents: list[Keys] = []
    for wish in done:
        try:
            parents += (keys for keys in wish.edit.parents(text) if keys not in parents)
        except EditRefused:  # install has repaired the file since
            continue
    backup = None if old is None else old.backup
    if backup is None and found_bytes is not None:
        backup = str(_backup_path(change.path, found_bytes, home))
    return Record(
        scope=scope,
        made=digest(change.after),
        undo=None if found_bytes is None else Undo.between(found_bytes, change.after),
        edits=edits_after(old, done, found_bytes),
        parents=parents,
        backup=backup,
    )


def given_back(old: Record, now: bytes) -> bytes | None:
    """The original file: byte for byte if it is unchanged since, otherwise without our edits."""
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
    """Whether a file that codelens created contains nothing from others."""
    return text.strip() in {"", "{}"}


def hooked(records: Iterable[Record], scope: str) -> set[str]:
    """The hosts that have our hooks in a scope; each install renews them."""
    return {
        host
        for record in records
        if record.scope == scope
        for host in record.edits
        if any(isinstance(edit, Hooks) for edit in edits_of(record, [host]))
    }


def edits_of(old: Record, hosts: Iterable[str]) -> list[Edit]:
    """The recorded edits of these hosts, as far as this version understands them."""
    recorded = (recalled(fields) for host in hosts for fields in old.edits.get(host, []))
    return [edit for edit in recorded if edit is not None]


def _backup_path(path: Path, data: bytes, home: Path) -> Path:
    """Where to back up an original file: in its own folder, a host might read the copy.

    Never the path of a copy with other bytes.
    """
    day = datetime.datetime.now(tz=datetime.UTC).strftime("%Y-%m-%d")
    name = f"{digest(bytes(str(path), 'utf-8', 'surrogateescape'))[:8]}-{path.name}"
    copy = home / "backups" / f"{day}-{name}"
    if host_files.read(copy) in (None, data):
        return copy
    return copy.with_name(f"{day}-{digest(data)[:8]}-{name}")


def back_up(record: Record, found_bytes: bytes | None) -> None:
    """Write the backup that a record names, unless it exists.

    The record is written first: without it, nothing would ever delete the backup of an install that
    was killed.

    Raises:
        NotWritten: the backup cannot be written.
        HomeNotWritable: its folder cannot be created.
    """
    if record.backup is None or found_bytes is None or os.path.exists(record.backup):
        return
    copy = Path(record.backup)
    make_private(copy.parent)
    host_files.sweep_all(copy.parent)
    host_files.write(copy, found_bytes, private=True)


def drop_backup(record: Record) -> None:
    """Delete the backup that a record names.

    Raises:
        NotWritten: it cannot be deleted.
    """
    if record.backup is not None:
        copy = Path(record.backup)
        host_files.remove(copy)
        host_files.sweep_all(copy.parent)
        host_files.remove_empty([copy.parent])


# The ledger records the original of each file and the edits to it.
#
# If a file still is what we wrote (its digest is `made`), uninstall restores the original byte for
# byte. Otherwise others have changed it since, and uninstall only removes our edits.

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Undo:
    """How to restore the original bytes: replace `cut` bytes at `at` with `text`."""

    at: int
    cut: int
    text: str

    @classmethod
    def between(cls, found_bytes: bytes, made_bytes: bytes) -> Undo:
        """How to turn `made_bytes` back into `found_bytes`; both are UTF-8."""
        start = _common(found_bytes, made_bytes)
        end = _common(found_bytes[start:][::-1], made_bytes[start:][::-1])
        return cls(
            start, len(made_bytes) - start - end,
            found_bytes[start : len(found_bytes) - end].decode("utf-8", "surrogateescape"),
        )  # fmt: skip

    def applied(self, written_bytes: bytes) -> bytes:
        """The original bytes."""
        text = self.text.encode("utf-8", "surrogateescape")
        return written_bytes[: self.at] + text + written_bytes[self.at + self.cut :]


def _common(left: bytes, right: bytes) -> int:
    """The length of the common prefix of two texts."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(left), len(right)))


@dataclass(frozen=True, slots=True)
class Record:
    """The record of one file.

    Attributes:
        scope: `user`, or the root of a project.
        made: the digest of the file that we wrote.
        undo: how to restore the original; None if the file did not exist.
        edits: our edits by host, as fields of `record`.
        parents: keys that we had to create for an entry.
        backup: the path of a copy of the original.
    """

    scope: str
    made: str
    undo: Undo | None
    edits: dict[str, list[dict[str, object]]]
    parents: list[Keys] = field(default_factory=list[Keys])
    backup: str | None = None

    def found_by(self, data: bytes | None) -> bool:
        """Whether the file is unchanged since we wrote it."""
        return data is not None and digest(data) == self.made


def digest(data: bytes) -> str:
    """The digest of a file's bytes."""
    return hashlib.sha256(data).hexdigest()


class Ledger:
    """The records by path of the real file."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.file = home / "install.json"
        self.note = ""
        """A message to the user about the ledger itself."""
        self.folders: list[str] = []
        """The folders that we created, in the order of creation."""
        self.records = self._read()

    def _read(self) -> dict[str, Record]:
        try:
            data = host_files.read(self.file)
            nothing: Any = {"version": _VERSION, "files": {}, "folders": []}
            ledger: Any = json.loads(data) if data else nothing
            if ledger["version"] != _VERSION:
                raise ValueError("another version wrote it")
            self.folders = [str(folder) for folder in ledger["folders"]]
            return {path: _record(fields) for path, fields in ledger["files"].items()}
        except (HostError, ValueError, KeyError, TypeError, AttributeError) as error:
            self.note = (
                f"{self.file} cannot be used ({error}): only text that codelens certainly wrote "
                "will be removed; the next install renames it to "
                f"{self._unusable.name}"
            )
            return {}

    def keep(self, path: Path, record: Record | None, paths: Sequence[Path] = ()) -> None:
        """Set or drop the record of a file, on disk; `paths` are folders that we created.

        Raises:
            NotWritten: the ledger cannot be written.
            HomeNotWritable: CODELENS_HOME cannot be created.
        """
        records = {key: new_record for key, new_record in self.records.items() if key != str(path)}
        if record is not None:
            records[str(path)] = record
        self._save(records, [*self.folders, *(str(folder) for folder in paths)])

    def revert(self, path: Path, record: Record | None) -> None:
        """Set a file's record back to an earlier one, or drop it.

        Also deletes the folders that we created and that no record needs, if they are empty; others
        belong to whoever uses them now.

        Raises:
            NotWritten: the ledger cannot be written.
        """
        records = {key: other for key, other in self.records.items() if key != str(path)}
        if record is not None:
            records[str(path)] = record
        needed = {str(folder) for key in records for folder in Path(key).parents}
        gone = [folder for folder in self.folders if folder not in needed]
        host_files.remove_empty(sorted(map(Path, gone), key=lambda folder: len(folder.parts)))
        self._save(records, [folder for folder in self.folders if folder in needed])

    @property
    def _unusable(self) -> Path:
        return self.file.with_suffix(".unusable.json")

    def _save(self, records: dict[str, Record], folders: list[str]) -> None:
        make_private(self.home)
        if self.note and (data := host_files.read(self.file)) is not None:
            # A newer codelens may have written it and may still need it.
            host_files.write(self._unusable, data)
            self.note = ""
        if records or folders:
            contents = {
                "version": _VERSION,
                "files": {key: asdict(record) for key, record in records.items()},
                "folders": folders,
            }
            host_files.write(self.file, json.dumps(contents, indent=1).encode("utf-8"))
        else:
            self._remove()
        self.records, self.folders = records, folders

    def _remove(self) -> None:
        try:
            self.file.unlink(missing_ok=True)
        except OSError as error:
            raise NotWritten(self.file, error.strerror or str(error)) from error


def _record(fields: dict[str, Any]) -> Record:
    undo = fields["undo"]
    return Record(
        scope=str(fields["scope"]),
        made=str(fields["made"]),
        undo=None if undo is None else Undo(int(undo["at"]), int(undo["cut"]), str(undo["text"])),
        edits=cast("dict[str, list[dict[str, object]]]", dict(fields["edits"])),
        parents=[tuple(field) for field in fields["parents"]],
        backup=fields["backup"],
    )
