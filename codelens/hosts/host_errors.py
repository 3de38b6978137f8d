"""What can go wrong with a file of a host; each names the file and what to do."""

from __future__ import annotations

from pathlib import PurePath

from codelens.errors import CodelensError


class HostError(CodelensError):
    """A host cannot be wired, or its wiring not be taken out."""


class NotRead(HostError):
    """A file cannot be read; nothing was changed."""

    def __init__(self, path: PurePath, why: str) -> None:
        self.path = path
        super().__init__(f"{path} cannot be read: {why}; it was left unchanged")


class LeftAlone(HostError):
    """A file cannot be edited safely; nothing was changed."""

    def __init__(self, path: PurePath, why: str, remedy: str) -> None:
        self.path = path
        super().__init__(f"{path}: {why}; it was left unchanged, {remedy}")


class NotWritten(HostError):
    """A file cannot be written; what was there is still there."""

    def __init__(self, path: PurePath, why: str) -> None:
        self.path = path
        super().__init__(f"{path} cannot be written: {why}; it was left unchanged")


class Overtaken(HostError):
    """Another program wrote a file after it was read; nothing was changed."""

    def __init__(self, path: PurePath) -> None:
        self.path = path
        super().__init__(
            f"{path} is constantly being written by another program; it was left unchanged; "
            "close that program and try again"
        )


class TurnTaken(HostError):
    """Another install or uninstall is at work; nothing was changed."""

    def __init__(self, lock: PurePath) -> None:
        super().__init__(
            f"another codelens install or uninstall holds {lock}; nothing was changed; try "
            "again when it has finished"
        )


class NoLauncher(HostError):
    """There is no command that a host could start."""
