"""What install found and did, file by file, so that uninstall can give it back.

`CODELENS_HOME/install.json`. A record is believed only as far as the file still is what we wrote
(`made`, a digest): then what was there comes back byte for byte. Otherwise others have written
since, and only what is ours is taken out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from codelens.hosts import host_files
from codelens.hosts.formats.config_values import Keys
from codelens.hosts.host_errors import HostError, NotWritten
from codelens.paths import make_private

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Undo:
    """How the bytes that were found come back: replace `cut` bytes at `at` with `text`."""

    at: int
    cut: int
    text: str

    @classmethod
    def between(cls, found_bytes: bytes, made_bytes: bytes) -> Undo:
        """The way from `made_bytes` back to `found_bytes`; both are UTF-8."""
        shorter = min(len(found_bytes), len(made_bytes))
        start = _common(found_bytes, made_bytes, shorter)
        end = _common(found_bytes[start:][::-1], made_bytes[start:][::-1], shorter - start)
        return cls(
            start, len(made_bytes) - start - end,
            found_bytes[start : len(found_bytes) - end].decode("utf-8", "surrogateescape"),
        )  # fmt: skip

    def applied(self, written_bytes: bytes) -> bytes:
        """What was found."""
        text = self.text.encode("utf-8", "surrogateescape")
        return written_bytes[: self.at] + text + written_bytes[self.at + self.cut :]


def _common(left: bytes, right: bytes, most: int) -> int:
    """How many bytes two texts have in common at their start."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


@dataclass(frozen=True, slots=True)
class Record:
    """What was done to one file.

    Attributes:
        scope: `user`, or the root of a project.
        made: the digest of the file as we left it.
        undo: the way back; None if there was no file.
        edits: our edits by host, as `edits.record` writes them down.
        parents: keys that we had to make for an entry.
        backup: where the file that was found is kept whole.
    """

    scope: str
    made: str
    undo: Undo | None
    edits: dict[str, list[dict[str, object]]]
    parents: list[Keys] = field(default_factory=list[Keys])
    backup: str | None = None

    def found_by(self, data: bytes | None) -> bool:
        """Whether the file still is what we wrote."""
        return data is not None and digest(data) == self.made


def digest(data: bytes) -> str:
    """What tells whether a file is still the same."""
    return hashlib.sha256(data).hexdigest()


class Ledger:
    """The records by path of the real file."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.file = home / "install.json"
        self.note = ""
        """Something that the user should know about the ledger itself."""
        self.folders: list[str] = []
        """Folders that we had to make, in the order of making."""
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
                f"{self.file} cannot be used ({error}): only what was certainly written by "
                "codelens will be removed; the next install keeps it as "
                f"{self._unusable.name}"
            )
            return {}

    def keep(self, path: Path, record: Record | None, paths: Sequence[Path] = ()) -> None:
        """Set or drop the record of a file, on disk; `paths` are folders that we had to make.

        Raises:
            NotWritten: the ledger cannot be written.
            HomeNotWritable: CODELENS_HOME cannot be made.
        """
        records = {key: new_record for key, new_record in self.records.items() if key != str(path)}
        if record is not None:
            records[str(path)] = record
        self._save(records, [*self.folders, *(str(folder) for folder in paths)])

    def leave(self, path: Path) -> None:
        """Delete those folders above `path` that we made and that are empty again.

        Raises:
            NotWritten: the ledger cannot be written.
        """
        above = [folder for folder in self.folders if Path(folder) in path.parents]
        host_files.remove_empty(
            sorted((Path(folder) for folder in above), key=lambda path: len(path.parts))
        )
        files_left = [Path(path) for path in self.records]
        gone = {
            folder
            for folder in above
            if not any(Path(folder) in left.parents for left in files_left)
        }  # those that others have moved into are theirs now
        if gone:
            self._save(self.records, [folder for folder in self.folders if folder not in gone])

    @property
    def _unusable(self) -> Path:
        return self.file.with_suffix(".unusable.json")

    def _save(self, records: dict[str, Record], folders: list[str]) -> None:
        make_private(self.home)
        if self.note and (data := host_files.read(self.file)) is not None:
            # A newer codelens may have written it, and can use it still.
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
