"""Which command a host shall start: the absolute path of the stable console script."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from codelens.hosts.host_errors import NoLauncher

_FLEETING = ("uv/archive-v", "uv/builds-v", "pipx/.cache", "pipx/venvs-cache")
"""Folders whose environments are thrown away: `uvx`, `pipx run`."""


def launcher(command: str | None = None) -> str:
    """The absolute path of the `codelens` that hosts shall start.

    The shim on the PATH (of pipx, of uv) is preferred to the script inside its environment, and
    links are not followed: the shim survives an upgrade of Python.

    Args:
        command: what the user names instead.

    Raises:
        NoLauncher: there is none, or one that will not last.
    """
    if command is not None:
        located = shutil.which(command)
        if located is None:
            raise NoLauncher(f"--command {command!r} is not an executable program")
        return os.path.abspath(located)
    own = Path(sysconfig.get_path("scripts")) / ("codelens.exe" if os.name == "nt" else "codelens")
    on_path = shutil.which("codelens")
    chosen = Path(os.path.abspath(on_path)) if on_path and _same(Path(on_path), own) else own
    if not chosen.is_file():
        raise NoLauncher(
            f"codelens is not installed as a command in {sys.prefix}; install it (`pipx install .` "
            "or `uv tool install .`), or name one with --command"
        )
    if any(mark in own.as_posix() or mark in chosen.as_posix() for mark in _FLEETING):
        raise NoLauncher(
            f"{chosen} is in a temporary environment; "
            "run `uv tool install codelens` or `pipx install codelens` first"
        )
    return str(chosen)


def _same(left: Path, right: Path) -> bool:
    try:
        return left.resolve() == right.resolve() or left.read_bytes() == right.read_bytes()
    except OSError:
        return False
