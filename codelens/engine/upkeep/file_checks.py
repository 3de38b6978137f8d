"""Defines findings of the doctor, and its checks of versions, folders, permissions and space."""

from __future__ import annotations

import os
import platform
import shlex
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from codelens import __version__, home_files
from codelens.config import Settings, damage_in
from codelens.engine.upkeep import view_survey
from codelens.errors import CodelensError
from codelens.extract.extractor_version import EXTRACTOR_VERSION
from codelens.index.worker_pool import dead_marks
from codelens.store.database import database_file, database_recovery
from codelens.store.database.database_file import migrations
from codelens.wording import count_of

State = Literal["ok", "note", "mended", "wrong"]


class Finding(NamedTuple):
    """One line of the doctor: the subject, the finding, and what was or can be done."""

    state: State
    """`ok`; `note`: worth knowing; `mended`: repaired; `wrong`: not repaired."""
    about: str
    found: str
    done: str = ""
    """What was done, or for `wrong`, what to do."""
    check: str = ""
    """The name of the check; `examine` sets it."""


class Examination(NamedTuple):
    """What to examine, and how."""

    settings: Settings
    fix: bool
    thorough: bool

    @property
    def home(self) -> Path:
        """The folder with all files of codelens."""
        return self.settings.home

    def mended(
        self, about: str, state_text: str, how: str, repair: Callable[[], object]
    ) -> Finding:
        """Repair a fault if requested; returns the finding.

        Args:
            about: the subject.
            state_text: the fault.
            how: the repair as a command (`remove it`).
            repair: does it.
        """
        if not self.fix:
            return Finding("wrong", about, state_text, f"--fix: {how}")
        try:
            repair()
        except (CodelensError, OSError) as error:
            return Finding("wrong", about, state_text, f"could not {how}: {error}")
        return Finding("mended", about, state_text, f"done: {how}")


# Checks of versions, folders, permissions, space and leftover files.

_GIGABYTE = 1_000_000_000
_KINDS = ("index", "contexts", "usage", "vectors")
_LOGS = ("-wal", "-shm", "-journal")
_BACKUP_S = 7 * 86_400
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_FOLDER, _FILE = 0o700, 0o600
_OURS = ("indexes", "contexts", "backups")
_MINE = {stat.S_IRUSR: "read", stat.S_IWUSR: "write", stat.S_IXUSR: "enter"}


def versions(case: Examination) -> Iterator[Finding]:
    """Report the versions in use, and a missing checksum extension."""
    del case
    schemas = ", ".join(f"{kind} {migrations(kind)[-1][0]}" for kind in _KINDS)
    yield Finding(
        "ok",
        f"codelens {__version__}",
        f"Python {platform.python_version()}, SQLite {database_file.sqlite_version()}, extractor "
        f"{EXTRACTOR_VERSION}, schemas: {schemas}",
    )
    if not database_file.checksums_available():
        yield Finding(
            "note",
            "checksums",
            "this apsw has no cksumvfs: a damaged byte in a database may go unnoticed",
            "install apsw 3.54 or later from PyPI, then `codelens index --rebuild`",
        )


def home(case: Examination) -> Iterator[Finding]:
    """Check that the home folder is a writable folder, if it exists."""
    where = str(case.home)
    if not case.home.exists():
        yield Finding("ok", where, "not there yet; the first query creates it")
        return
    if not case.home.is_dir():
        yield Finding("wrong", where, "it is not a folder", "move it away or set CODELENS_HOME")
        return
    for folder in folders(case.home):
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            yield Finding(
                "wrong", str(folder), "it cannot be written",
                "make it writable or set CODELENS_HOME; until then indexes are kept in memory",
            )  # fmt: skip
            return
    yield Finding("ok", where, "can be written")


def settings_file(case: Examination) -> Iterator[Finding]:
    """Check that the settings file is valid, if there is one."""
    file = case.home / "config.toml"
    damage = damage_in(case.home)
    if not damage:
        finding_text = "can be read" if file.exists() else "no settings file: defaults apply"
        yield Finding("ok", str(file), finding_text)
        return
    yield settings_set_aside(case, damage)


def settings_set_aside(case: Examination, damage: str) -> Finding:
    """The finding for a damaged settings file, which is renamed on request."""
    file = case.home / "config.toml"
    aside = file.with_name(f"{file.name}.set-aside-{time.time_ns()}")
    how = f"rename it to {aside.name!r}, so that the defaults apply"
    return case.mended(str(file), damage, how, lambda: file.rename(aside))


def permissions(case: Examination) -> Iterator[Finding]:
    """Check that only the owner can access the files: 0700 for folders, 0600 for files."""
    if os.name != "posix" or not case.home.is_dir():
        return
    count = 0
    # A folder's own mode is repaired before the folder is listed.
    for path in everything(case.home):
        finding = _mode(case, path)
        if finding is not None:
            count += 1
            yield finding
    if not count:
        yield Finding("ok", str(case.home), "readable only by you")


def _mode(case: Examination, path: Path) -> Finding | None:
    about = path.stat()
    mode = stat.S_IMODE(about.st_mode)
    folder = stat.S_ISDIR(about.st_mode)
    # An executable keeps its execute permission.
    is_own = folder or path.parent in {case.home, *(case.home / name for name in _OURS)}
    wanted_mode = _FOLDER if folder else _FILE | (0 if is_own else mode & stat.S_IXUSR)
    # codelens never writes settings.
    needed = _FILE & ~stat.S_IWUSR if path.name == "config.toml" else wanted_mode
    if os.geteuid() not in {0, about.st_uid}:
        if os.access(path, needed >> 6):
            return None
        return Finding(
            "wrong", str(path), f"it belongs to user {about.st_uid}, and you have no access to it",
            f"`sudo chown -R {os.geteuid()} {shlex.quote(str(case.home))}` makes it yours",
        )  # fmt: skip
    lacks = [word for bit, word in _MINE.items() if needed & bit and not mode & bit]
    if not lacks and not mode & _OTHERS:
        return None
    problem = (
        f"its owner may not {' or '.join(lacks)} it" if lacks else "other users have access to it"
    )
    return case.mended(
        str(path), f"{problem} ({mode:04o})", f"set its mode to {wanted_mode:04o}",
        lambda: path.chmod(wanted_mode),
    )  # fmt: skip


def disk(case: Examination) -> Iterator[Finding]:
    """Check that the disk of the home folder has enough free space."""
    free = view_survey.free_bytes(case.home)
    free_text = f"{free / 1e9:,.1f} GB free" if free >= _GIGABYTE else f"{free / 1e6:,.1f} MB free"
    if free < view_survey.LITTLE_BYTES:
        aside = view_survey.bytes_of(
            aside.path for aside in database_recovery.all_asides(case.home)
        )
        first = f"--fix removes damaged files ({aside / 1e6:,.1f} MB); " if aside else ""
        yield Finding(
            "wrong", str(case.home), free_text, f"{first}{view_survey.disk_space_advice(case.home)}"
        )
    else:
        yield Finding("ok", str(case.home), free_text)


def leftovers(case: Examination) -> Iterator[Finding]:
    """Find files that an interrupted process or a repaired fault left behind."""
    count = 0
    scarce = view_survey.is_scarce(case.home)
    for path, description in _left(case.home, scarce=scarce):
        count += 1
        yield case.mended(str(path), description, "remove it", path.unlink)
    for aside in () if scarce else database_recovery.all_asides(case.home):
        if aside.path.suffix.startswith(".damaged"):
            count += 1
            days = max(0, round((database_recovery.KEPT_S - aside.age_s) / 86_400))
            yield Finding(
                "note", str(aside.path), f"a damaged file, kept for {count_of(days, 'more day')}"
            )
    for path in everything(case.home) if case.home.is_dir() else ():
        if home_files.is_aside(path.name):
            count += 1
            yield Finding(
                "note", str(path), "was written for another repository or session, or damaged, "
                "and set aside", "delete it if you need nothing from it",
            )  # fmt: skip
    if not count:
        yield Finding("ok", str(case.home), "nothing left behind")


def _left(home: Path, *, scarce: bool) -> Iterator[tuple[Path, str]]:
    indexes = home / "indexes"
    newest: set[str] = set()
    for aside in database_recovery.all_asides(home):
        if scarce:
            yield aside.path, "a damaged file that was set aside, while disk space is low"
        elif aside.age_s > database_recovery.KEPT_S or (
            aside.of in newest and _is_main(aside.path)
        ):
            yield aside.path, "a damaged file that was set aside"
        if _is_main(aside.path):
            newest.add(aside.of)
    for path in everything(home) if home.is_dir() else ():
        description = _left_behind(path) if path.is_file() else ""
        if description:
            yield path, description
    for index in sorted(indexes.glob("index-*.db")):
        for mark in dead_marks(index):
            if _age_s(mark) > _BACKUP_S:
                yield mark, "an old record of a file that crashed a worker process"


def _left_behind(path: Path) -> str:
    """What kind of leftover a file is; empty if it is in use."""
    name = path.name
    of = next((name.removesuffix(log) for log in _LOGS if name.endswith(log)), "")
    if of and ".damaged-" not in of and not path.with_name(of).exists():
        return "the log of a deleted database"
    if path.suffix in {".checked", ".unexplained"} and not path.with_suffix("").exists():
        return "a record about a deleted index"
    if name.startswith("index-") and ".before-" in name and _age_s(path) > _BACKUP_S:
        return "a copy of an index from an unfinished migration"
    if home_files.is_old_draft(str(path)):
        return "an unfinished copy"
    return ""


def _age_s(path: Path) -> float:
    return time.time() - path.lstat().st_mtime


def _is_main(path: Path) -> bool:
    return not path.name.endswith(_LOGS)


def folders(home: Path) -> Iterator[Path]:
    """The home folder and its direct subfolders; links are not followed."""
    yield home
    if os.access(home, os.R_OK | os.X_OK):
        yield from (
            path for path in sorted(home.iterdir()) if path.is_dir() and not path.is_symlink()
        )


def everything(folder: Path) -> Iterator[Path]:
    """A folder and everything in it that can be listed; links are not followed."""
    yield folder
    # Listed after the `yield`, since the caller may make the folder readable first.
    if not os.access(folder, os.R_OK | os.X_OK):
        return
    for path in sorted(folder.iterdir()):
        if path.is_symlink():
            continue
        if path.is_dir():
            yield from everything(path)
        else:
            yield path
