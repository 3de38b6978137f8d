"""What is wrong with codelens on this machine, and what can be mended of it.

`CHECKS` names the checks in their order. A check is a function from an `Examination` to findings;
one that may mend does so only where `Examination.fix` is set. What one check raises is a finding
of its own and keeps no other from running.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

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
    # First of what may mend: a folder that may not be entered hides all in it from the others.
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
"""Named checks; who adds one appends a pair."""


class CheckResult(NamedTuple):
    """A finding, with the check that made it."""

    check: str
    state: Literal["ok", "note", "mended", "wrong"]
    about: str
    found: str
    done: str


def examine(
    settings: Settings,
    *,
    fix: bool = False,
    thorough: bool = False,
    checks: Iterable[tuple[str, Check]] = CHECKS,
) -> Iterator[CheckResult]:
    """Run the checks.

    Args:
        settings: whose home is examined; of the others none decides what is found.
        fix: mend what can be; else nothing is changed, and findings say what would be done.
        thorough: compare indexes of databases with their tables too.
        checks: named, in their order.
    """
    case = Examination(settings, fix, thorough)
    for name, check in checks:
        try:
            for finding in check(case):
                yield CheckResult(name, *finding)
        except (CodelensError, OSError) as error:
            yield _unexamined(name, settings, error)


def _unexamined(name: str, settings: Settings, error: CodelensError | OSError) -> CheckResult:
    """A check that could not go on."""
    if isinstance(error, OSError):
        about = os.fsdecode(error.filename or settings.home)
        problem = f"it cannot be checked: {error.strerror or error}"
        unreadable = barred(Path(about))
        if unreadable is None:
            return CheckResult(name, "wrong", about, problem, "make it readable, or move it away")
        error = unreadable
    if isinstance(error, HomeNotReadable):
        problem = f"it cannot be checked: {error.why}"
        return CheckResult(
            name, "wrong", error.path, problem, "make it readable first (see permissions)"
        )
    return CheckResult(name, "wrong", str(settings.home), str(error), "")
