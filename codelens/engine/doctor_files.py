"""The doctor's checks of versions, folders, permissions, space and files left behind."""

from __future__ import annotations

import os
import platform
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from codelens import __version__
from codelens.engine.examination import Examination, Finding
from codelens.extract.version import EXTRACTOR_VERSION
from codelens.index.crashmark import dead_marks
from codelens.store import pagecheck, recovery
from codelens.store.migrate import migrations

_LITTLE_BYTES = 500_000_000
_KINDS = ("index", "contexts", "usage")
_LOGS = ("-wal", "-shm", "-journal")
_BACKUP_S = 7 * 86_400
_NEW_S = 3600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def versions(case: Examination) -> Iterator[Finding]:
    """What runs here."""
    del case
    schemas = ", ".join(f"{kind} {migrations(kind)[-1][0]}" for kind in _KINDS)
    yield Finding(
        "ok",
        f"codelens {__version__}",
        f"Python {platform.python_version()}, SQLite {pagecheck.sqlite_version()}, extractor "
        f"{EXTRACTOR_VERSION}, schemas: {schemas}",
    )
    if not pagecheck.available():
        yield Finding(
            "note",
            "checksums",
            "this apsw comes without cksumvfs: a damaged byte in a database may go unseen",
            "install apsw 3.54 or later from PyPI, then `codelens index --rebuild`",
        )


def home(case: Examination) -> Iterator[Finding]:
    """The folder is there, and can be written."""
    where = str(case.home)
    if not case.home.exists():
        yield Finding("ok", where, "not there yet; the first question makes it")
        return
    if not case.home.is_dir():
        yield Finding("wrong", where, "it is no folder", "move it away or set CODELENS_HOME")
        return
    for folder in (case.home, *_folders(case.home)):
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            yield Finding(
                "wrong", str(folder), "it cannot be written",
                "make it writable or set CODELENS_HOME; until then answers come from memory",
            )  # fmt: skip
            return
    yield Finding("ok", where, "can be written")


def permissions(case: Examination) -> Iterator[Finding]:
    """Nobody else can read what is kept: 0700 for folders, 0600 for files."""
    if os.name != "posix" or not case.home.is_dir():
        return
    wide = [one for one in (case.home, *_everything(case.home)) if one.lstat().st_mode & _OTHERS]
    for path in wide:
        mode = path.lstat().st_mode
        wanted = stat.S_IMODE(mode) & ~_OTHERS
        yield case.mended(
            str(path),
            f"others may use it ({stat.S_IMODE(mode):04o})",
            f"set its mode to {wanted:04o}",
            lambda path=path, wanted=wanted: path.chmod(wanted),
        )
    if not wide:
        yield Finding("ok", str(case.home), "readable by you alone")


def disk(case: Examination) -> Iterator[Finding]:
    """There is room to write."""
    place = case.home
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    told = f"{free / 1e9:,.1f} GB free"
    if free < _LITTLE_BYTES:
        yield Finding("wrong", str(place), told, "free some space; `codelens prune` may help")
    else:
        yield Finding("ok", str(place), told)


def leftovers(case: Examination) -> Iterator[Finding]:
    """Files that a process which ended in the midst, or a mended fault, left behind."""
    count = 0
    for path, what in _left(case.home):
        count += 1
        yield case.mended(str(path), what, "remove it", lambda path=path: path.unlink())
    for one in recovery.asides(case.home / "indexes"):
        if one.path.suffix.startswith(".damaged"):
            count += 1
            days = max(0, round((recovery.KEPT_S - one.age_s) / 86_400))
            yield Finding("note", str(one.path), f"a damaged index, kept for {days} more days")
    if not count:
        yield Finding("ok", str(case.home), "nothing left behind")


def _left(home: Path) -> Iterator[tuple[Path, str]]:
    indexes = home / "indexes"
    newest: set[str] = set()
    for one in recovery.asides(indexes):
        if one.age_s > recovery.KEPT_S or (one.of in newest and _is_main(one.path)):
            yield one.path, "a damaged index that was set aside"
        if _is_main(one.path):
            newest.add(one.of)
    for path in _everything(home):
        what = _left_behind(path) if path.is_file() else ""
        if what:
            yield path, what
    for index in sorted(indexes.glob("index-*.db")):
        for mark in dead_marks(index):
            if _age_s(mark) > _BACKUP_S:
                yield mark, "the mark of a text that ended a process, not seen since"


def _left_behind(path: Path) -> str:
    """What a file is that no database needs any more; empty for one that has its place."""
    name = path.name
    of = next((name.removesuffix(log) for log in _LOGS if name.endswith(log)), "")
    if of and ".damaged-" not in of and not path.with_name(of).exists():
        return "the log of a database that is gone"
    if path.suffix == ".checked" and not path.with_suffix("").exists():
        return "a note about an index that is gone"
    if name.startswith("index-") and ".before-" in name and _age_s(path) > _BACKUP_S:
        return "the copy of an index from before a migration that did not end"
    if ".new-" in name and _age_s(path) > _NEW_S:
        return "a copy that was never finished"
    return ""


def _age_s(path: Path) -> float:
    return time.time() - path.lstat().st_mtime


def _is_main(path: Path) -> bool:
    return not path.name.endswith(_LOGS)


def _folders(home: Path) -> list[Path]:
    return [one for one in sorted(home.iterdir()) if one.is_dir() and not one.is_symlink()]


def _everything(home: Path) -> list[Path]:
    """All that lies in the home folder; links are not followed."""
    if not home.is_dir():
        return []
    return [one for one in sorted(home.rglob("*")) if not one.is_symlink()]
