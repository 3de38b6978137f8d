"""Opens the file of the contexts database, keeps backup copies of it, and recovers it from damage.

Recovery rebuilds it from its copies and from the readable parts of the damaged file. It deletes
nothing: damaged files are renamed, copies included.
"""

# apsw's stubs leave the types of bindings, pragmas and errors open.
# pyright: reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Self

import apsw

from codelens.errors import (
    DiskFull,
    HomeNotReadable,
    HomeNotWritable,
    IndexCorrupt,
    IndexLocked,
    StoreError,
)
from codelens.home_files import unique_draft
from codelens.paths import make_private
from codelens.store.database.database import Database, translated
from codelens.store.database.database_file import copy_database
from codelens.store.database.database_opening import open_database
from codelens.store.database.database_recovery import HOLDER, alone_in
from codelens.store.saved import context_rows
from codelens.store.saved.context_rows import (
    SHORTEST,
    Context,
    Owner,
    Terms,
    as_it_is,
    connected,
    legible,
    owner_by_name,
    prove,
    proved,
    size_of,
)

TermsOf = Callable[[Context], Terms]

COPIES = (".backup", ".backup-old")
_ASIDE = ".unreadable-"
_JOURNALS = ("-journal", "-wal", "-shm")


class _Restorable(NamedTuple):
    """The data that can be restored from a damaged database and its copies."""

    contexts: list[Context]
    about: list[tuple[str, str]]
    unsound: list[Path]
    """Copies that are damaged too."""


def asides(folder: Path) -> list[Path]:
    """Damaged contexts databases of a folder that were set aside, without their journals."""
    return sorted(folder.glob(f"contexts-*.db{_ASIDE}*[0-9]"))


def copied(path: Path, source: Path) -> Path:
    """Copy `source` to a draft of `path`.

    Raises:
        StoreError: `source` cannot be read, or there is no room.
    """
    target = Path(unique_draft(str(path)))
    try:
        with translated(source):
            copy_database(source, target)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return target


def copies(path: Path) -> Iterator[Path]:
    """Copies of the database, newest first."""
    backups = [path.with_name(path.name + suffix) for suffix in COPIES]
    yield from (file for file in backups if file.is_file())
    yield from sorted(path.parent.glob(f"{path.name}.before-*"), reverse=True)


@contextmanager
def without_commits(path: Path) -> Generator[None]:
    """Block other processes' commits to a damaged file, if it can be written at all."""
    with ExitStack() as stack:
        # In a file that is too short to be a database, SQLite would start a new one.
        if size_of(path) >= SHORTEST:
            try:
                # Closing it ends the transaction, which writes nothing.
                db = stack.enter_context(closing(connected(path, "rw")))
                db.execute("BEGIN IMMEDIATE")
            except StoreError as error:
                if not _means_damage(error):
                    raise
        yield


def remade(path: Path, terms_of: TermsOf, owner: Owner) -> tuple[Path | None, int]:
    """Put a rebuilt database in place; return the damaged file's path and the restored count."""
    rows, about, unsound = _restorable(path, owner)
    # The file itself gets the newest name.
    named = [(copy, _aside(path)) for copy in unsound]
    aside = _aside(path)
    new_path = Path(unique_draft(str(path)))
    db = open_database(new_path, "contexts")
    try:
        with db.write(None):
            for context in rows:
                context_rows.put(db, context, terms_of(context))
            context_rows.put_about(db, about)
    finally:
        db.close()
    # SQLite would replay a journal left behind into the new file.
    for suffix in _JOURNALS:
        file = path.with_name(path.name + suffix)
        if file.exists():
            file.rename(aside.with_name(aside.name + suffix))
    if path.exists():
        _link_or_rename(path, aside)
    new_path.replace(path)
    for copy, other in named:
        # Otherwise the next changes would overwrite the copy.
        copy.rename(other)
    return (aside if aside.exists() else None), len(rows)


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}{_ASIDE}{time.time_ns()}")


def _set_aside_ns(aside: Path) -> int:
    """When a file was set aside, according to its name; 0 for a name not from `_aside`."""
    when = aside.name.rpartition(_ASIDE)[2]
    return int(when) if when.isdecimal() else 0


def _link_or_rename(path: Path, aside: Path) -> None:
    """Link a file to a second name; rename it if the system has no hard links.

    The first name still exists then, so no other process creates an empty file under it.
    """
    try:
        os.link(path, aside)
    except OSError:
        path.rename(aside)


def _restorable(path: Path, owner: Owner) -> _Restorable:
    """Merge the newest sound copy with contexts that are newer, or only in damaged files.

    If the file is missing, ignore files that were set aside before that copy was made: the copy has
    all that was restored from them, except for what was deleted since.

    Raises:
        StoreError: a copy cannot be read now, which does not mean that it is damaged.
    """
    by_name: dict[str, Context] = {}
    about: list[tuple[str, str]] = []
    unsound: list[Path] = []
    since_ns = 0
    for copy in copies(path):
        made_ns = copy.stat().st_mtime_ns
        try:
            restored, about = _of_copy(path, copy, owner)
        except StoreError as error:
            if not _means_damage(error):
                raise
            unsound.append(copy)
            by_name = {context.name: context for context in legible(copy, owner)} | by_name
            continue
        by_name = {context.name: context for context in restored} | by_name
        since_ns = made_ns
        break
    # A process killed during a recovery left the damaged file under its new name.
    newest = max(path.parent.glob(f"{path.name}{_ASIDE}*[0-9]"), key=_set_aside_ns, default=None)
    left = [newest] if newest is not None and _set_aside_ns(newest) >= since_ns else []
    for damaged in [path] if path.exists() else left:
        for context in legible(damaged, owner):
            if context.name not in by_name or by_name[context.name].saved_s <= context.saved_s:
                by_name[context.name] = context
    every = sorted(by_name.values(), key=lambda context: (context.created_s, context.name))
    return _Restorable(every, about, unsound)


def _means_damage(error: StoreError) -> bool:
    """Whether an error means damage, not a full disk, too many open files, another process, ..."""
    unreadable = type(error) is StoreError and isinstance(error.__cause__, apsw.IOError)
    return unreadable or isinstance(error, IndexCorrupt)


def _of_copy(path: Path, copy: Path, owner: Owner) -> tuple[list[Context], list[tuple[str, str]]]:
    """The contexts and facts of a sound copy, which an older codelens may have written.

    Raises:
        IndexCorrupt: it is damaged.
    """
    if size_of(copy) < SHORTEST:
        raise IndexCorrupt(copy, "it is not a database")
    scratch = copied(path, copy)
    try:
        with closing(open_database(scratch, "contexts")) as db:
            keys = (
                context_rows.COMMON_DIR,
                context_rows.ROOTS,
                context_rows.WAITING,
                context_rows.ADOPTED,
                context_rows.REPOSITORY,
            )
            return prove(db, owner), [(key, context_rows.about(db, key)) for key in keys]
    finally:
        for left in scratch.parent.glob(f"{scratch.name}*"):
            left.unlink()


# Saved contexts are irreplaceable: their file is never thrown away, and not used when damaged.
#
# After every change it is copied to `.backup`; the copy before that stays as `.backup-old`. Each
# opening checks the whole file, which is small. A damaged file is set aside for good, and a new one
# built from the newest sound copy and the readable parts of the damaged file. It uses a rollback
# journal instead of a write-ahead log: all saved data is in one file, which can be read where
# nothing can be written.

_PATIENCE_S = 10.0
_LOOK_AGAIN_S = 0.05


class ContextsFile(NamedTuple):
    """An open contexts database; use it in a `with`."""

    db: Database
    notes: tuple[str, ...]
    """Sentences on what had to be done to open it."""
    why_not: StoreError | None = None
    """Why it is read-only; None if it can be written."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.db.close()

    @contextmanager
    def changed(self) -> Generator[list[str]]:
        """Run one transaction, then copy the file.

        Yields a list, which gains a sentence if the copy could not be written.

        Raises:
            StoreError: nothing was changed.
        """
        if self.why_not is not None:
            raise self.why_not
        notes: list[str] = []
        with _writing(self.db):
            yield notes
            context_rows.put_about(
                self.db, [(context_rows.REPOSITORY, owner_by_name(self.db.path).repository)]
            )
            _require_same_file(self.db)
        try:
            back_up(self.db)
        except (StoreError, OSError) as error:
            notes.append(f"it is saved, but its backup copy could not be written: {error}")


def open_contexts(
    path: Path, terms_of: TermsOf, *, make: bool, owner: Owner | None = None
) -> ContextsFile | None:
    """Open the contexts of a repository; recover a damaged file.

    A file of another repository is set aside like a damaged one, and nothing is restored from it.

    Args:
        path: the database; its folder is created with it.
        terms_of: returns the search terms of a context.
        owner: the repository that it must belong to; None: the one in its file name.
        make: the caller will change it: create it if missing, and fail if it cannot be written.

    Returns:
        None if nothing was ever saved.

    Raises:
        HomeNotWritable, DiskFull: it cannot be written and `make` is set, or it cannot be read.
        SchemaTooNew: a newer codelens wrote it.
    """
    with translated(path):
        if not make and not path.exists() and not any(copies(path)):
            return None
    owner = owner or owner_by_name(path)
    try:
        try:
            return ContextsFile(_sound(path, owner), ())
        except IndexCorrupt as error:
            return _recovered(path, terms_of, error, owner)
    except (HomeNotWritable, HomeNotReadable, DiskFull) as error:
        if make:
            raise
        return _for_reading(path, error, owner)


class Glance(NamedTuple):
    """What a contexts database states about its repository."""

    path: Path
    common_dir: str
    roots: frozenset[str]
    size: int
    """The number of contexts, including expired ones."""
    newest_s: int
    """When the last one was saved."""
    adopted: dict[str, int]
    """Names of files that it took over, and when."""


def glance(path: Path) -> Glance | None:
    """Read a file's repository and size; None if it cannot be read."""
    try:
        with closing(as_it_is(path)) as db, db.read():
            roots = frozenset(context_rows.about(db, context_rows.ROOTS).split())
            place = context_rows.about(db, context_rows.COMMON_DIR)
            taken = (
                word.rpartition("@")
                for word in context_rows.about(db, context_rows.ADOPTED).split()
            )
            adopted = {name: int(when) for name, _, when in taken if when.isdecimal()}
            return Glance(
                path, place, roots, context_rows.count(db), context_rows.newest_s(db), adopted
            )  # fmt: skip
    except StoreError:
        return None


def contexts_of(path: Path) -> list[Context]:
    """All contexts of a file, opened read-only.

    Raises:
        StoreError: it cannot be read, or is damaged.
    """
    with closing(as_it_is(path)) as db:
        return prove(db)


@contextmanager
def _writing(db: Database) -> Generator[None]:
    """Run one write transaction, provided that the open file still has its name.

    SQLite finds journals by name: a process that waits for the lock of a file that was set aside
    would take the journal of a writer to the new file for that of a killed process and remove it.

    Raises:
        IndexLocked: another process's transaction was open all the time.
    """
    until = time.monotonic() + _PATIENCE_S
    with ExitStack() as stack:
        while True:
            _require_same_file(db)
            try:
                stack.enter_context(db.write(None, _LOOK_AGAIN_S))
                break
            except StoreError as error:
                if time.monotonic() > until or not _is_transient(error):
                    raise
        _require_same_file(db)
        yield


def _is_transient(error: StoreError) -> bool:
    """Whether a transaction that failed to begin may succeed in a moment.

    SQLite reports an I/O error if another process removes its journal while SQLite examines it:
    seen once in a minute with three processes that changed one file on an overloaded machine.
    """
    if isinstance(error, IndexLocked):
        return True
    return type(error) is StoreError and isinstance(error.__cause__, apsw.IOError)


def _require_same_file(db: Database) -> None:
    if db.was_replaced():
        path = str(db.path)
        raise StoreError(f"{path!r} was replaced meanwhile; nothing was changed: try again")


def back_up(db: Database) -> None:
    """Copy the database to its backup: completely or not at all, and never over a newer state.

    Raises:
        StoreError, OSError: the copy could not be written; the previous one still exists.
    """
    newest, older = (db.path.with_name(db.path.name + suffix) for suffix in COPIES)
    # No process can commit between the copy and its renaming.
    with _writing(db):
        path = copied(db.path, db.path)
        try:
            with closing(as_it_is(path)) as copy:
                prove(copy)
        except StoreError:
            path.unlink()
            raise
        if newest.exists():
            newest.replace(older)
        path.replace(newest)


def _sound(path: Path, owner: Owner) -> Database:
    """Open the database and verify all of it.

    Raises:
        IndexCorrupt: it is damaged, of another repository, or missing although copies exist.
    """
    size = size_of(path)
    if not size and any(copies(path)):
        raise IndexCorrupt(path, "it is empty" if path.exists() else "it is missing")
    if 0 < size < SHORTEST:
        raise IndexCorrupt(path, "it is not a database")
    return proved(open_database(path, "contexts"), owner)


def _recovered(
    path: Path, terms_of: TermsOf, index_corrupt: IndexCorrupt, owner: Owner
) -> ContextsFile:
    make_private(path.parent)
    try:
        with alone_in(path.parent):
            try:
                # Another process may have recovered it while this one waited.
                return ContextsFile(_sound(path, owner), ())
            except IndexCorrupt:
                with without_commits(path):
                    aside, count = remade(path, terms_of, owner)
    except TimeoutError as error:
        raise IndexLocked(path, HOLDER) from error
    except OSError as error:
        raise HomeNotWritable(path, error.strerror or str(error)) from error
    outcome = f"{count} restored" if count else "none could be restored"
    kept_note = f"; the damaged file is kept as {str(aside)!r}" if aside else ""
    note = f"the saved contexts were damaged ({index_corrupt.why}): {outcome}{kept_note}"
    if index_corrupt.foreign:
        outcome = (
            f"{count} of this repository restored from a copy" if count else "none of them is shown"
        )
        kept_note = (
            f"; the file is kept as {str(aside)!r}, `codelens load --adopt FILE` takes it over"
            if aside
            else ""
        )
        note = (
            f"the saved contexts belonged to another repository ({index_corrupt.why}): "
            f"{outcome}{kept_note}"
        )
    db = proved(open_database(path, "contexts"), owner)
    return ContextsFile(db, (note,))


def _for_reading(path: Path, why_not: StoreError, owner: Owner) -> ContextsFile:
    """Open the file, or else its newest sound copy, read-only.

    Raises:
        StoreError: `why_not`, if none can be read.
    """
    for file in (path, *copies(path)):
        with suppress(StoreError):
            db = proved(as_it_is(file), owner)
            return ContextsFile(db, (f"read only: {why_not}",), why_not)
    raise why_not
