"""Who names a definition or module in a text, by its whole path: `mock.patch("pkg.a.f")`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.text_uses.setting_keys import is_data
from codelens.engine.graph.text_uses.word_search import Match, TextSearch
from codelens.resolve.facts.file_model import TYPES
from codelens.resolve.facts.path_tree import folder_of, stem_of
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.walk.edge_table import Node

MOST_NAMED = 30
"""Definitions and files that are looked for."""
_FACELESS = frozenset({"__init__", "__main__"})
_ROOTS = frozenset({"src", "lib", "app", "main", "test"})
"""Folders above a package that are no part of its name."""
_JOINT = re.compile(r"[.:\\]+")
_ENDS = re.compile(rb"(?:[.:]+\w+)*[\"'`]")
"""What may stand behind a name in a text: members of it, then the quote."""


class DottedUse(NamedTuple):
    """One place that names a definition or module by its path."""

    path: bytes
    line: int
    name: str
    """As it is written."""


class DottedNames:
    """Looks for texts in one view, for one question."""

    def __init__(self, graph: LazyGraph, search: TextSearch) -> None:
        self._graph = graph
        self._search = search

    def of(self, nodes: Iterable[Node]) -> Iterator[DottedUse]:
        """Texts that name some definitions, or files as a whole (`MODULE`)."""
        for node in list(nodes)[:MOST_NAMED]:
            own = self._own_name(node)
            if own is not None:
                yield from self._naming(node, own)

    def _own_name(self, node: Node) -> tuple[str, ...] | None:
        """What follows the module's name: the types around a definition, and its name."""
        if not spec_of(self._graph.resolved.languages.get(node.path, "")).named_in_texts:
            return None
        symbols, parts, at = self._graph.symbols(node.path), list[str](), node.symbol
        while at >= 0:
            if parts and symbols[at].kind not in TYPES | {"module"}:
                return None
            if symbols[at].kind != "module":
                parts.append(symbols[at].name)
            at = symbols[at].parent
        return tuple(reversed(parts))

    def _naming(self, node: Node, own: tuple[str, ...]) -> Iterator[DottedUse]:
        modules = self._modules(node.path)
        words = own or modules[0][-1:]
        paths = self._search.files_with(words)
        if not own:
            # Uses inside of a whole file are its own.
            paths.discard(node.path)
        data = [path for path in paths if is_data(path) or path.endswith(b".xml")]
        last = rb"[.:\\]+".join(re.escape(part.encode()) for part in words)
        pattern = re.compile(rb"(?<![\w$.\\])(?P<at>(?:[\w$]+[.:\\]+)+%s)(?![\w$])" % last)
        for match in self._search.matches(paths, pattern, also=data):
            written = match.text[match.start : match.end].decode("utf-8", "replace")
            before = tuple(_JOINT.split(written))[: -len(own) or None]
            if _is_text(match, in_code=match.path not in data) and (
                any(_names(before, module) for module in modules)
                or (own and self._is_handed_on(before, node, own))
            ):
                yield DottedUse(match.path, match.line, written)

    def _modules(self, path: bytes) -> list[tuple[str, ...]]:
        """The parts of the names that a file, or its package, may have."""
        folders = tuple(part.decode("utf-8", "replace") for part in folder_of(path).split(b"/"))
        folders = tuple(filter(None, folders))
        stem = stem_of(path).decode("utf-8", "replace")
        package = self._graph.resolved.package(path)
        spoken = [tuple(package.split("."))] if package else []
        return [folders if stem in _FACELESS and folders else (*folders, stem), *spoken]

    def _is_handed_on(self, module: tuple[str, ...], node: Node, own: tuple[str, ...]) -> bool:
        """Whether a module of that name imports the definition: `patch("pkg.user.f")`."""
        top = node
        while (parent := self._graph.symbols(top.path)[top.symbol].parent) >= 0:
            top = Node(top.path, parent)
        return any(
            _names(module, self._modules(path)[0])
            and top in self._graph.imported_as(own[0], [path])
            for path in self._graph.importers(node.path)
        )


def _names(written: Sequence[str], module: tuple[str, ...]) -> bool:
    """Whether what is written is a module's name, with or without the folders above its package."""
    count = len(written)
    if not count or tuple(written) != module[-count:]:
        return False
    return count > 1 or _ROOTS.issuperset(module[:-1])


def _is_text(match: Match, *, in_code: bool) -> bool:
    """Whether a place is a whole text, or a whole value in a file of data."""
    quoted = match.before[-1:] in {b'"', b"'", b"`"}
    if in_code or quoted:
        return quoted and _ENDS.match(match.after) is not None
    return match.before[-1:] not in {b"/", b"-", b"@"}
