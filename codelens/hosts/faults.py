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
        super().__init__(f"{path} cannot be read: {why}; left as it is")


class LeftAlone(HostError):
    """A file cannot be edited safely; nothing was changed."""

    def __init__(self, path: PurePath, why: str, remedy: str) -> None:
        self.path = path
        super().__init__(f"{path}: {why}; left as it is, {remedy}")


class NotWritten(HostError):
    """A file cannot be written; what was there is still there."""

    def __init__(self, path: PurePath, why: str) -> None:
        self.path = path
        super().__init__(f"{path} cannot be written: {why}; it is as it was")


class NoLauncher(HostError):
    """There is no command that a host could start."""
