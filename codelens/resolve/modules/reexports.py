"""Where an imported name is defined, behind the files that merely pass it on.

`index.ts` and `__init__.py` mostly do. What a file imports under a name and others import from
it is taken as passed on: in code that runs it has to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from codelens.resolve.modules.importer import Importer
from codelens.types import Import

_DEEPEST = 12
"""Files that one name is followed through; barrels of barrels are rarely more than four deep."""


class Surface(NamedTuple):
    """What a file defines and imports, as far as others can see it."""

    language: str
    defined: frozenset[str]
    """Names of its top-level symbols."""
    imports: tuple[Import, ...]


class Definers:
    """Follows imported names through the files of one view."""

    def __init__(self, importer: Importer, surface: Callable[[bytes], Surface | None]) -> None:
        """`surface` is asked for files of the view; None for one that has no facts."""
        self._importer = importer
        self._surface = surface
        self._known: dict[tuple[bytes, str], bytes | None] = {}

    def definer(self, path: bytes, language: str, import_: Import) -> bytes | None:
        """The file that defines what `one` imports; the module's file if no other can be told.

        None for what is outside of the view, and for imports of several files.
        """
        targets = self._importer.targets(path, language, import_)
        if len(targets) != 1:
            return None
        return self._follow(targets[0], import_.name, 0) or targets[0]

    def _follow(self, path: bytes, name: str, depth: int) -> bytes | None:
        if not name or name == "*" or depth > _DEEPEST:
            return None
        key = (path, name)
        if key not in self._known:
            # A cycle of star imports finds this, and looks no further here.
            self._known[key] = None
            self._known[key] = self._search(path, name, depth)
        return self._known[key]

    def _search(self, path: bytes, name: str, depth: int) -> bytes | None:
        surface = self._surface(path)
        if surface is None:
            return None
        if name in surface.defined:
            return path
        for import_ in surface.imports:
            if (import_.alias or import_.name) == name and import_.name != "*":
                target = self._only(path, surface.language, import_)
                definer = self._follow(target, import_.name, depth + 1) if target else None
                return definer or target
        stars = (
            import_ for import_ in surface.imports if import_.name == "*" and not import_.alias
        )
        return self._behind_stars(path, surface.language, stars, name, depth)

    def _behind_stars(
        self, path: bytes, language: str, stars: Iterable[Import], name: str, depth: int
    ) -> bytes | None:
        for star in stars:
            target = self._only(path, language, star)
            definer = self._follow(target, name, depth + 1) if target else None
            if definer:
                return definer
        return None

    def _only(self, path: bytes, language: str, import_: Import) -> bytes | None:
        targets = self._importer.targets(path, language, import_)
        return targets[0] if len(targets) == 1 else None
