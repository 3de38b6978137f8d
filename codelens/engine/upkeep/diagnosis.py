"""Runs the doctor's checks, which find, and on request repair, faults on this machine.

`CHECKS` lists the checks in order. A check is a function from an `Examination` to findings; it
repairs only if `Examination.fix` is set. An exception in a check becomes a finding, and the other
checks still run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from codelens.config import Settings
from codelens.engine.upkeep.database_checks import (
    contexts_databases,
    indexes,
    usage_database,
    vectors_databases,
)
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
from codelens.errors import CodelensError, HomeNotReadable
from codelens.paths import barred

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
