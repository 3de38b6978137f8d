"""Runs the doctor's checks, which find, and on request repair, faults on this machine.

`CHECKS` lists the checks in order. A check is a function from an `Examination` to findings; it
repairs only if `Examination.fix` is set. An exception in a check becomes a finding, and the other
checks still run. The checks of databases are here, the others in `file_checks`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from codelens.config import Settings
from codelens.engine.upkeep.file_checks import (
    Examination,
    Finding,
    disk,
    home,
    leftovers,
    permissions,
    settings_file,
    versions,
)
from codelens.engine.upkeep.index_decoding import undecodable
from codelens.errors import (
    CodelensError,
    DiskFull,
    HomeNotReadable,
    IndexCorrupt,
    SchemaTooNew,
    StoreError,
)
from codelens.memory.notebook import terms_of
from codelens.paths import VECTORS_FOLDER, barred, usage_file
from codelens.store.database import database_recovery, writer_lease
from codelens.store.database.database import Database
from codelens.store.database.database_file import outdated_schema
from codelens.store.database.database_opening import (
    hold_index,
    open_database,
    open_index,
    other_repository,
)
from codelens.store.database.writer_lease import machine
from codelens.store.facts import precise_facts
from codelens.store.saved import context_rows
from codelens.store.saved.context_rows import foreign, owner_by_name
from codelens.store.saved.contexts_file import asides, contexts_of, open_contexts
from codelens.store.saved.usage_log import usage_log
from codelens.store.vector_tables import foreign_consent
from codelens.wording import count_of


def indexes(case: Examination) -> Iterator[Finding]:
    """Check each index: its schema, its structure and checksums, and its writer."""
    folder = case.home / "indexes"
    if (unreadable := barred(folder)) is not None:
        raise unreadable
    files = sorted(folder.glob("index-*.db"))
    for path in files:
        yield from _guarded_check(path, lambda path=path: _index(case, path))
    if not files:
        yield Finding("ok", str(folder), "no index yet")


def _guarded_check(path: Path, check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Check one database; an unreadable one does not prevent the check of others."""
    if path.exists() and not path.is_file():
        yield Finding("wrong", str(path), "it is not a file, so nothing can be stored in it",
                      "move it away")  # fmt: skip
        return
    try:
        yield from check()
    except OSError as error:
        yield Finding("wrong", str(path), f"it cannot be read: {error.strerror or error}",
                      "make it readable, or move it away")  # fmt: skip


def _index(case: Examination, path: Path) -> Iterator[Finding]:
    schema = outdated_schema(path, "index")
    if schema and not case.fix:
        yield Finding("note", str(path), f"schema {schema}: the next query migrates it")
        return
    identity = database_recovery.identity_of(path)
    try:
        try:
            db = open_database(path, "index")
        except DiskFull:
            db = hold_index(path)
    except IndexCorrupt as error:
        yield _damaged(case, path, error.why, identity)
        return
    except StoreError as error:
        yield _unusable(path, error)
        return
    try:
        other = other_repository(db)
        fault = f"it is the index of {other!r}" if other else db.fault(thorough=case.thorough)
        fault = fault or undecodable(db, whole=case.thorough)
        if not fault:
            database_recovery.note_check(path)
            size = f"{db.size_bytes() / 1e6:,.1f} MB, fully checked"
            yield Finding("ok", str(path), size if db.has_checksums() else f"{size}, no checksums")
            yield from _precise(db)
            yield from _lease(case, db)
    finally:
        db.close()
    if fault:
        yield _damaged(case, path, fault, identity)


def _precise(db: Database) -> Iterator[Finding]:
    """The imported compiler facts, and since when they have been used."""
    for row in precise_facts.imports(db):
        texts = count_of(row.documents, "text")
        message = f"{texts} answered precisely since {row.day}, by {row.tool}"
        yield Finding("ok", str(db.path), message)


def _damaged(
    case: Examination, path: Path, why: str, identity: database_recovery.Identity | None
) -> Finding:
    def repair() -> None:
        database_recovery.set_aside(path, identity)
        # If there is no room now, the next query creates the index.
        with suppress(DiskFull):
            open_index(path).close()

    how = "set it aside; the next query builds a new one; saved contexts stay"
    return case.mended(str(path), f"damaged: {why}", how, repair)


def _lease(case: Examination, db: Database) -> Iterator[Finding]:
    holder = writer_lease.holder_of(db)
    if holder is None or not holder.owner:
        return
    if writer_lease.is_held(holder, machine()):
        yield Finding("note", str(db.path), f"process {holder.pid} is writing to it")
        return
    yield case.mended(
        str(db.path),
        f"process {holder.pid} ended while writing",
        "release its lease",
        lambda: writer_lease.acquire(db, 0.0).release(db),
    )


def contexts_databases(case: Examination) -> Iterator[Finding]:
    """Check that all saved contexts can be read."""
    folder = case.home / "contexts"
    if (unreadable := barred(folder)) is not None:
        raise unreadable
    # If only copies are left, the database was deleted.
    every = folder.glob("contexts-*.db*")
    files = sorted({path.with_name(f"{path.name.partition('.db')[0]}.db") for path in every})
    for path in files:
        yield from _guarded_check(path, lambda path=path: _saved(case, path))
    for aside in asides(folder):
        yield Finding(
            "note", str(aside),
            "contexts that were set aside (damaged, or of another repository); never deleted",
            "`codelens load --adopt FILE` in the repository that they belong to takes them over; "
            "delete it if you need nothing from it",
        )  # fmt: skip
    if not files:
        yield Finding("ok", str(folder), "nothing saved yet")


def _saved(case: Examination, path: Path) -> Iterator[Finding]:
    schema = outdated_schema(path, "contexts") if path.exists() else 0
    if schema and not case.fix:
        yield Finding("note", str(path), f"schema {schema}: the next use migrates it")
        return
    try:
        fault, count = _contexts(path, thorough=case.thorough)
    except StoreError as error:
        yield _unusable(path, error)
        return
    if not fault:
        yield Finding("ok", str(path), f"{count:,} saved")
        return
    how = "restore it from its copy and from what can still be read; the damaged file is kept"
    done = case.mended(str(path), f"damaged: {fault}", how, lambda: _restore(path))
    if done.state == "mended":
        left = len(contexts_of(path))
        if not left:
            outcome = "nothing could be restored from it or its copies; the damaged file is kept"
            yield Finding("wrong", str(path), f"damaged: {fault}", outcome)
            return
        done = done._replace(done=f"done: {left:,} restored; the damaged file is kept")
    yield done


def _contexts(path: Path, *, thorough: bool) -> tuple[str, int]:
    """The fault of saved contexts, and their number."""
    if not path.exists() or not path.stat().st_size:
        return ("it is empty" if path.exists() else "it is gone"), 0
    try:
        db = open_database(path, "contexts")
        try:
            fault = db.fault(thorough=thorough) or foreign(db, owner_by_name(path))
            return fault, len(context_rows.every(db))
        finally:
            db.close()
    except IndexCorrupt as error:
        return error.why, 0


def _restore(path: Path) -> None:
    opened = open_contexts(path, terms_of, make=False)
    if opened is not None:
        opened.db.close()


def usage_database(case: Examination) -> Iterator[Finding]:
    """Check the database of call counts, and its log."""
    log = usage_log(case.home)
    if log.is_symlink() or (log.exists() and not log.is_file()):
        how = "remove the link" if log.is_symlink() else "move it away"
        problem = "it is not a regular file, so no calls are counted"
        if log.is_symlink():
            yield case.mended(str(log), problem, how, log.unlink)
        else:
            yield Finding("wrong", str(log), problem, how)
    path = usage_file(case.home)
    if not path.exists():
        yield Finding("ok", str(path), "no calls counted yet")
        return
    yield _checked(case, path, "usage", "set it aside and start a new one")


def vectors_databases(case: Examination) -> Iterator[Finding]:
    """Check the files with the vectors of providers and the consents."""
    folder = case.home / VECTORS_FOLDER
    files = sorted(folder.glob("vectors-*.db")) if folder.is_dir() else []
    if not files:
        yield Finding("ok", str(folder), "no provider was enabled yet")
    for path in files:
        yield _checked(case, path, "vectors", "set it aside; its provider is then not enabled")


def _checked(case: Examination, path: Path, kind: str, how: str) -> Finding:
    """The result of a check of the whole file; a damaged one can be set aside."""
    identity = database_recovery.identity_of(path)
    try:
        db = open_database(path, kind)
        try:
            fault = db.fault(thorough=case.thorough)
            if kind == "vectors" and not fault:
                fault = foreign_consent(db)
        finally:
            db.close()
    except IndexCorrupt as error:
        fault = error.why
    except StoreError as error:
        return _unusable(path, error)
    if fault:
        repair = lambda: database_recovery.set_aside(path, identity)  # noqa: E731 - one use
        return case.mended(str(path), f"damaged: {fault}", how, repair)
    return Finding("ok", str(path), "fully checked")


def _unusable(path: Path, error: StoreError) -> Finding:
    remedy = "upgrade codelens" if isinstance(error, SchemaTooNew) else ""
    return Finding("wrong", str(path), str(error), remedy)


# All checks, and their run.

Check = Callable[[Examination], Iterator[Finding]]

CHECKS: tuple[tuple[str, Check], ...] = (
    ("versions", versions),
    # Before other repairs: an inaccessible folder hides its contents from later checks.
    ("permissions", permissions),
    ("home", home),
    ("settings", settings_file),
    ("disk", disk),
    ("indexes", indexes),
    ("contexts", contexts_databases),
    ("usage", usage_database),
    ("vectors", vectors_databases),
    ("leftovers", leftovers),
)
"""Named checks; append a pair to add one."""


def examine(
    settings: Settings,
    *,
    fix: bool = False,
    thorough: bool = False,
    checks: Iterable[tuple[str, Check]] = CHECKS,
) -> Iterator[Finding]:
    """Run the checks.

    Args:
        settings: their home is examined; no other setting affects the findings.
        fix: repair what can be repaired; otherwise change nothing and say what would be done.
        thorough: also compare the SQL indexes of databases with their tables.
        checks: named, in order.
    """
    case = Examination(settings, fix, thorough)
    for name, check in checks:
        try:
            for finding in check(case):
                yield finding._replace(check=name)
        except (CodelensError, OSError) as error:
            yield _unexamined(settings, error)._replace(check=name)


def _unexamined(settings: Settings, error: CodelensError | OSError) -> Finding:
    """The finding of a check that failed with an error."""
    if isinstance(error, OSError):
        about = os.fsdecode(error.filename or settings.home)
        problem = f"it cannot be checked: {error.strerror or error}"
        unreadable = barred(Path(about))
        if unreadable is None:
            return Finding("wrong", about, problem, "make it readable, or move it away")
        error = unreadable
    if isinstance(error, HomeNotReadable):
        problem = f"it cannot be checked: {error.why}"
        return Finding("wrong", error.path, problem, "make it readable first (see permissions)")
    return Finding("wrong", str(settings.home), str(error))
