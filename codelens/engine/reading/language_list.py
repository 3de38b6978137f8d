"""Lists the languages that codelens reads, for the interfaces, which do not import `extract`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from codelens.errors import QueryError
from codelens.extract import language_settings as known
from codelens.extract.language_detection import language_called
from codelens.extract.language_settings import Gift, given_by


@dataclass(frozen=True, slots=True)
class LanguageLine:
    """One language."""

    name: str
    """The name that filters accept."""
    title: str
    extensions: tuple[str, ...]
    filenames: tuple[str, ...]
    stems: tuple[str, ...]
    """Names up to their first dot: `Dockerfile.dev`."""
    interpreters: tuple[str, ...]
    """The interpreters that a `#!` line names."""
    contested: tuple[str, ...]
    """Extensions of other languages that mean this one if the content says so."""
    gives: tuple[Gift, ...]
    """The facts extracted; empty: it is only searched as text."""


def called(words: Iterable[str]) -> tuple[str, ...]:
    """Languages by any of their names: name, title, alias or extension.

    Raises:
        QueryError: a word does not name a language.
    """
    names: list[str] = []
    for word in words:
        name = language_called(word.strip())
        if name is None:
            raise QueryError(
                f"unknown language {word[:100]!r}",
                typed="`codelens languages` lists them",
                called="cl_current lists those of this worktree",
            )
        names.append(name)
    return tuple(names)


def languages() -> list[LanguageLine]:
    """All languages, by name."""
    return [
        LanguageLine(
            language.name,
            language.title,
            language.extensions,
            language.filenames,
            language.stems,
            language.interpreters,
            tuple(extension for extension, _ in language.contested),
            given_by(language),
        )
        for language in known.languages()
    ]
