"""What the graph of a view is made from, and what it hands on to that of the next state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from hashlib import blake2b
from typing import NamedTuple

from codelens.resolve.facts.edge_rows import Row
from codelens.resolve.facts.model_cache import ModelCache
from codelens.resolve.modules.importer import Importer


class File(NamedTuple):
    """One file of a view."""

    content: int
    language: str
    surface: int
    """Digest of what others see of it."""
    blank: bool = False
    """No edge can begin in it."""


LatePart = Callable[[], Row]


class Stored(NamedTuple):
    """What was kept of a path with a content."""

    rows: Callable[[bytes, int, int], Iterable[tuple[Row, bool]]]
    """As several states of the view gave them, given one: each with whether it is of that one."""
    parts: Callable[[bytes, int], Mapping[frozenset[str], list[Row | LatePart]]]
    """Names -> the edges to what is used under these, likewise; unpacked when asked for."""
    defining: Callable[[str], Iterable[int]]
    """Contents, of this view or of others, that define a name; others may be among them."""
    surveys: Callable[[Set[int]], dict[int, object]]
    """What was taken from contents for indexes over the view."""


class GraphState:
    """What a graph worked out, and for which state."""

    def __init__(self) -> None:
        self.rows: dict[bytes, Row] = {}
        self.checked: set[bytes] = set()
        """Paths whose rows are true for the state."""
        self.files: Mapping[bytes, File] = {}
        self.settings: dict[bytes, bytes | None] = {}
        self.importer: Importer | None = None
        self.models = ModelCache()
        self.parts: dict[bytes, dict[frozenset[str], list[Row | LatePart]]] = {}
        """Rows of files of which the uses of some names alone were resolved, as `Stored.parts`."""
        self.checked_parts: set[tuple[bytes, frozenset[str]]] = set()
        """Those that are true for the state."""


def state_of(files: Mapping[bytes, File], settings: Mapping[bytes, bytes | None]) -> int:
    """Digest of paths, what others see of the files, and settings: all that edges can stand on."""
    hasher = blake2b(digest_size=8)
    for path, file in sorted(files.items()):
        hasher.update(b"%b\0%b\0%d\0" % (path, file.language.encode(), file.surface))
    for path, data in sorted(settings.items()):
        hasher.update(b"%b\0%b\0" % (path, blake2b(data or b"").digest()))
    return int.from_bytes(hasher.digest(), "big") >> 1
