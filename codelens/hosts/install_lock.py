"""One install or uninstall at a time: two would each write a ledger without the other's files."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Generator
from pathlib import Path

from codelens import filelock
from codelens.hosts import host_files
from codelens.hosts.host_errors import NotWritten, TurnTaken
from codelens.paths import make_private

_WAIT_S = 30.0
"""Seconds; an install of all hosts takes less than ten on a slow disk."""
_LOOK_S = 0.05


@contextlib.contextmanager
def alone(home: Path, wait_s: float = _WAIT_S) -> Generator[None]:
    """Keep other installs and uninstalls with this CODELENS_HOME waiting.

    The lock is the system's own: it ends with the process, however that ends.

    Args:
        home: CODELENS_HOME.
        wait_s: how many seconds to wait for another.

    Raises:
        TurnTaken: another is at it still.
        NotWritten: the lock cannot be made.
        HomeNotWritable: CODELENS_HOME cannot be made.
    """
    make_private(home)
    path = home / "install.lock"
    descriptor = _locked(path, time.monotonic() + wait_s)
    try:
        host_files.sweep(home / "install.json")
        yield
    finally:
        # While it is ours still, else another's could be deleted. Windows does not let go of it.
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(descriptor)


def _locked(path: Path, until: float) -> int:
    while True:
        try:
            descriptor = filelock.opened(path)
            if _is_ours(descriptor, path):
                return descriptor
        except OSError as error:
            raise NotWritten(path, (error.strerror or str(error)).lower()) from error
        if time.monotonic() > until:
            raise TurnTaken(path)
        time.sleep(_LOOK_S)


def _is_ours(descriptor: int, path: Path) -> bool:
    """Whether the lock is taken, of the file that has the name; else the descriptor is closed."""
    ours = False
    try:
        # Who had the lock has deleted its file: what was locked then may have no name any more.
        ours = filelock.take(descriptor) and _is_at(descriptor, path)
    finally:
        if not ours:
            os.close(descriptor)
    return ours


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
