"""Which languages codelens reads, for the faces, which do not import `extract`."""

from __future__ import annotations

from dataclasses import dataclass

from codelens.extract import languages as known


@dataclass(frozen=True, slots=True)
class LanguageLine:
    """One language."""

    name: str
    """As filters take it."""
    title: str
    extensions: tuple[str, ...]
    filenames: tuple[str, ...]
    structure: bool
    """Symbols and references are read; else it is searched as text."""


def languages() -> list[LanguageLine]:
    """All languages, by name."""
    return [
        LanguageLine(one.name, one.title, one.extensions, one.filenames, bool(one.grammar))
        for one in known.languages()
    ]
