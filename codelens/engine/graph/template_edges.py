"""The certain edges to templates: a template or code names one literally, by a framework's rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from codelens.engine.graph.candidate_files import files_with
from codelens.engine.graph.declared_places import Enclosing
from codelens.engine.graph.template_rules import (
    TemplatePaths,
    is_code,
    may_be_template,
    may_name_templates,
    named_templates,
)
from codelens.extract.file_kinds import is_binary
from codelens.extract.tokenizer import WORD
from codelens.resolve.edges import CERTAIN, Edge
from codelens.resolve.walk.edge_table import MODULE
from codelens.store.views.snapshot import Snapshot
from codelens.types import Symbol

INCLUDES = "include"
"""The kind of an edge between two templates: a page is all that it includes or extends."""


class TemplateEdges:
    """Reads the edges of one state of a view, each file once."""

    def __init__(
        self, snapshot: Snapshot, read: Callable[[bytes], bytes | None],
        symbols: Callable[[bytes], Sequence[Symbol]], values: dict[object, object],
    ) -> None:  # fmt: skip
        self._snapshot = snapshot
        self._read = read
        self._symbols = symbols
        self._values = values

    def of(self, path: bytes) -> Sequence[Edge]:
        """Return the edges from a file."""
        if not may_name_templates(path) or not self._paths().any:
            return ()
        key = ("template edges of", path)
        if key not in self._values:
            self._values[key] = self._edges_in(path)
        return cast("list[Edge]", self._values[key])

    def to(self, path: bytes, spent: Callable[[], bool]) -> Sequence[Edge]:
        """Return the edges to a file, by source; only those known once time is `spent`."""
        if not may_be_template(path):
            return ()
        key = ("template edges to", path)
        if key not in self._values:
            stem = path.rpartition(b"/")[2].partition(b".")[0].lstrip(b"_")
            words = WORD.findall(stem.decode("utf-8", "replace"))
            sources = sorted(filter(may_name_templates, files_with(self._snapshot, words)))
            edges: list[Edge] = []
            for source in sources:
                if spent():
                    return edges
                edges += [edge for edge in self.of(source) if edge.target == path]
            self._values[key] = edges
        return cast("list[Edge]", self._values[key])

    def _edges_in(self, path: bytes) -> list[Edge]:
        text = self._read(path)
        if not text or is_binary(text):
            return []
        edges: dict[Edge, None] = {}
        kind, symbols = INCLUDES, list[Symbol]()
        if is_code(path):
            kind, symbols = "ref", list(self._symbols(path))
        enclosing = Enclosing(symbols)
        line, counted = 1, 0
        for use in sorted(named_templates(path, text, self._paths())):
            line += text.count(b"\n", counted, use.start)
            counted = use.start
            at = enclosing.of(line)
            edges[Edge(path, at, use.path, MODULE, kind, use.name, line, CERTAIN)] = None
        return list(edges)

    def _paths(self) -> TemplatePaths:
        key = "template paths"
        if key not in self._values:
            self._values[key] = TemplatePaths(self._snapshot.by_path)
        return cast("TemplatePaths", self._values[key])
