"""Packs the edges of one file with their dependencies, for storage and for later states.

A row stays valid while the file has the same text, each file that was looked into has the same
surface (`Flowing.surface`), and each import query has the same answer.
"""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections.abc import Callable, Iterable, Mapping, Set
from hashlib import blake2b
from typing import NamedTuple, cast

from codelens.resolve.edges import Edge
from codelens.resolve.imports import Importer
from codelens.resolve.languages.registry import resolved_as
from codelens.resolve.view_files import Asked, ModelCache
from codelens.store.facts import contents
from codelens.store.views.snapshot import Snapshot

_KINDS = ("call", "ref", "inherit", "import", "override", "satisfy")
_Answers = list[tuple[tuple[str, str, str, str], list[str]]]
_FULL = 1000
"""A confidence of 1 in packed form."""


class Row(NamedTuple):
    """The edges of one file, and what they depend on."""

    content: int
    """The content of the file itself."""
    seen: tuple[tuple[bytes, int], ...]
    """Each other file that was read, with its surface; -1 for a missing file."""
    answers: tuple[tuple[Asked, tuple[bytes, ...]], ...]
    """Each query about the view's paths, with its answer."""
    edges: bytes


def dumped(row: Row) -> bytes:
    """Serialize a row, without its content."""
    answers = [
        [
            [kind, path.decode("latin-1"), module, name],
            [file.decode("latin-1") for file in files],
        ]
        for (kind, path, module, name), files in row.answers
    ]
    # In C++, a row depends on thousands of files: one split is faster than reading each path.
    paths = b"\0".join(path for path, _ in row.seen)
    surfaces = array("q", (surface for _, surface in row.seen)).tobytes()
    text = json.dumps(answers, separators=(",", ":")).encode()
    head = b"".join(len(part).to_bytes(4, "big") + part for part in (text, paths, surfaces))
    return zlib.compress(head + row.edges, 1)


def loaded_rows(content: int, data: bytes) -> Row:
    """Deserialize a row."""
    data = zlib.decompress(data)
    parts: list[bytes] = []
    at = 0
    for _ in range(3):
        size = int.from_bytes(data[at : at + 4], "big")
        parts.append(data[at + 4 : at + 4 + size])
        at += 4 + size
    text, paths, surfaces = parts
    numbers: list[int] = array("q", surfaces).tolist()
    seen = tuple(zip(paths.split(b"\0"), numbers, strict=True)) if numbers else ()
    answers = tuple(
        (
            (kind, path.encode("latin-1"), module, name),
            tuple(file.encode("latin-1") for file in files),
        )
        for (kind, path, module, name), files in cast("_Answers", json.loads(text))
    )
    return Row(content, seen, answers, data[at:])


def packed(edges: Iterable[Edge]) -> bytes:
    """Pack the edges of one file."""
    texts: dict[bytes, int] = {}
    names: dict[str, int] = {}
    words: array[int] = array("I")
    for edge in edges:
        target = texts.setdefault(edge.target, len(texts))
        name = names.get(edge.name)
        if name is None:
            encoded = edge.name.encode("utf-8", "surrogatepass")
            name = names[edge.name] = texts.setdefault(encoded, len(texts))
        kind = _KINDS.index(edge.kind) << 10 | round(edge.confidence * _FULL)
        words.extend((edge.symbol + 1, target, edge.target_symbol + 1, kind, name, edge.line))
    table = b"\0".join(texts)
    return array("I", [len(table)]).tobytes() + table + words.tobytes()


def unpacked_rows(path: bytes, data: bytes) -> list[Edge]:
    """Unpack the edges of one file."""
    size = int.from_bytes(data[:4], sys.byteorder)
    texts = data[4 : 4 + size].split(b"\0")
    numbers: list[int] = array("I", data[4 + size :]).tolist()
    places = [numbers[at : at + 6] for at in range(0, len(numbers), 6)]
    return [
        Edge(
            path,
            symbol - 1,
            texts[target],
            at - 1,
            _KINDS[kind >> 10],
            str(texts[name], "utf-8", "surrogatepass"),
            line,
            (kind & 1023) / _FULL,
        )
        for symbol, target, at, kind, name, line in places
    ]


# The inputs of a graph, and the state that it passes on to the next graph.


class File(NamedTuple):
    """A file of a view."""

    content: int
    language: str
    surface: int
    """The digest of what other files can see of it."""
    blank: bool = False
    """Whether no edge can start in it."""


LatePart = Callable[[], Row]


class Stored(NamedTuple):
    """Access to the stored results for a path and a content."""

    rows: Callable[[bytes, int, int], Iterable[tuple[Row, bool]]]
    """Rows from several states of the view, each with whether it belongs to the given state."""
    parts: Callable[[bytes, int], Mapping[frozenset[str], list[Row | LatePart]]]
    """Names -> partial rows with the edges to what is used under these names; unpacked lazily."""
    defining: Callable[[str], Iterable[int]]
    """Contents of this view or others that may define a name; a superset."""
    surveys: Callable[[Set[int]], dict[int, object]]
    """Surveys of contents, for indexes over the view."""


class GraphState:
    """The results of a graph and the state of the view that they belong to."""

    def __init__(self) -> None:
        self.rows: dict[bytes, Row] = {}
        self.checked: set[bytes] = set()
        """Paths whose rows are valid for this state."""
        self.files: Mapping[bytes, File] = {}
        self.settings: dict[bytes, bytes | None] = {}
        self.importer: Importer | None = None
        self.models = ModelCache()
        self.parts: dict[bytes, dict[frozenset[str], list[Row | LatePart]]] = {}
        """Partial rows by path and names, as in `Stored.parts`."""
        self.checked_parts: set[tuple[bytes, frozenset[str]]] = set()
        """Partial rows that are valid for this state."""


def state_of(files: Mapping[bytes, File], settings: Mapping[bytes, bytes | None]) -> int:
    """Return a digest of everything that edges can depend on: paths, surfaces, settings."""
    hasher = blake2b(digest_size=8)
    for path, file in sorted(files.items()):
        hasher.update(b"%b\0%b\0%d\0" % (path, file.language.encode(), file.surface))
    for path, data in sorted(settings.items()):
        hasher.update(b"%b\0%b\0" % (path, blake2b(data or b"").digest()))
    return int.from_bytes(hasher.digest(), "big") >> 1


def files_of(snapshot: Snapshot, before: Mapping[bytes, File]) -> dict[bytes, File]:
    """Return the files of a view, reusing the objects of an earlier state for unchanged files."""
    files: dict[bytes, File] = {}
    new: list[tuple[bytes, int]] = []
    for row in snapshot.files:
        if row.content is not None:
            earlier = before.get(row.path)
            if earlier is not None and earlier.content == row.content:
                files[row.path] = earlier
            else:
                new.append((row.path, row.content))
    surfaces = contents.surfaces(snapshot.db, {content for _, content in new})
    for path, content in new:
        if content in surfaces:
            language, surface, is_blank = surfaces[content]
            files[path] = File(content, resolved_as(language), surface, is_blank)
    return files
