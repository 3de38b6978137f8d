"""What the engine answers about packs: frozen values, ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PackAnswer:
    """A pack that was written."""

    file: str
    commits: tuple[str, ...]
    """Whose files' facts are in it."""
    since: str
    """The commit whose facts were left out; empty if none."""
    contents: int
    """Distinct texts."""
    left_out: int
    """Texts that were too much for a record."""
    size_bytes: int


@dataclass(frozen=True, slots=True)
class UnpackAnswer:
    """A pack that was merged into an index."""

    file: str
    contents: int
    """Distinct texts in it."""
    merged: int
    """Of these, those that the index did not have."""
    outdated: int
    """Of these, those that another version of the extractor made; left out."""
    compared: int
    """Texts of this clone that were extracted again and had the same facts."""
