"""What resolving needs of a view: its files, their facts, and what was asked of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from codelens.resolve.model import FileModel
from codelens.types import Import


class Importing(Protocol):
    """Tells which files an import names."""

    def targets(self, path: bytes, language: str, one: Import) -> tuple[bytes, ...]:
        """Files of the view that an import in a file names."""
        ...


class View:
    """The files of one view. Notes which of them were looked into, for `trace`."""

    def __init__(
        self,
        languages: Mapping[bytes, str],
        load: Callable[[bytes], FileModel | None],
        importing: Importing,
    ) -> None:
        self.languages = languages
        self._load = load
        self._importing = importing
        self._models: dict[bytes, FileModel | None] = {}
        self._targets: dict[tuple[bytes, str, str], tuple[bytes, ...]] = {}
        self.seen: set[bytes] = set()
        """Files looked into since it was cleared."""

    def model(self, path: bytes) -> FileModel | None:
        """Facts of a file, None if it has none."""
        self.seen.add(path)
        if path not in self._models:
            self._models[path] = self._load(path) if path in self.languages else None
        return self._models[path]

    def modules(self, path: bytes, module: str, name: str = "") -> tuple[bytes, ...]:
        """Files that a module is, as `path` names it; with a name, of the submodule so called."""
        key = (path, module, name)
        found = self._targets.get(key)
        if found is None:
            one = Import(module, name, "", 0)
            found = self._importing.targets(path, self.languages[path], one)
            self._targets[key] = found
        return found
