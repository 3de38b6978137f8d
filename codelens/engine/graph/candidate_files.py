"""The files that may hold an edge to a node: what to resolve before who uses it can be told.

A use names what it means, or an alias of it, so the words of the contents tell most of it. Modules
may be imported by a folder's name, and interfaces of Go are satisfied without being named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import cast

from codelens.engine.graph.edge_cache import EdgeCache
from codelens.engine.graph.name_index import OWN
from codelens.resolve.facts.path_tree import folder_of, name_of, stem_of
from codelens.resolve.languages.go.go_type_text import parameter_count
from codelens.resolve.languages.language_spec import LanguageSpec
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.walk.edge_table import Node, symbols_inside
from codelens.resolve.walk.relation_walk import CONSTRUCTORS
from codelens.store.facts.name_uses import Use
from codelens.store.facts.symbol_keys import key_of
from codelens.store.views.snapshot import Snapshot
from codelens.types import Import

_FOLDERS_TOLD = 4
_SUPER = "super "
"""Before a method's name: no name has a blank."""
# Files that are called for what they are, so that others import them by their folder.
_FACELESS = frozenset({b"__init__", b"index", b"mod", b"lib", b"package-info"})


class CandidateFiles:
    """Answers for one state of a view; its database must be in a read transaction."""

    def __init__(self, snapshot: Snapshot, resolved: EdgeCache) -> None:
        self._snapshot = snapshot
        self._cache = resolved
        self._graph = resolved.graph

    def of_names(self, names: Set[str]) -> list[tuple[bytes, Sequence[Use]]]:
        """Files of the view that use or import one of the names, by path, with the uses.

        A method's name behind `_SUPER` stands for the `super` in files that define a method of
        that name.
        """
        methods = {name.removeprefix(_SUPER) for name in names if name.startswith(_SUPER)}
        holding = dict(self._using({name for name in names if not name.startswith(_SUPER)}))
        if methods:
            defining = {
                file.path
                for name in methods
                for file, _, symbol in self._snapshot.symbols_with_key(key_of(name))
                if symbol.name == name and self._spec(file.path).nameless_super
            }
            for path, places in self._using({"super"}) if defining else ():
                if path in defining:
                    holding[path] = [*holding.get(path, ()), *places]
        return sorted(holding.items())

    def _using(self, names: Set[str]) -> Iterator[tuple[bytes, Sequence[Use]]]:
        files = self._snapshot.by_content
        for content, places in self._cache.name_index.uses(self._snapshot.db, names).items():
            for file in files.get(content, ()):
                yield file.path, places

    def names_of(self, path: bytes, symbol: int) -> set[str]:
        """The names under which others may know a definition."""
        symbols = self._graph.symbols(path)
        if not 0 <= symbol < len(symbols):
            return set()
        definition = symbols[symbol]
        if definition.parent < 0:
            face, index = _face(path), self._cache.name_index
            outside = self._graph.export_names(path, definition.name)
            return set[str]().union(*(index.also_called(name, face) for name in outside))
        names = {definition.name}
        owner = symbols[definition.parent]
        if definition.name in CONSTRUCTORS:
            # A call of the type, or of its `new`, may lead to it.
            names |= {"new"} | self._cache.name_index.also_called(owner.name, _face(path))
        elif owner.kind == "trait":
            # Where it is overridden the trait is named.
            names |= self._cache.name_index.also_called(owner.name, _face(path))
        if self._spec(path).nameless_super:
            names.add(_SUPER + definition.name)
        return names

    def _spec(self, path: bytes) -> LanguageSpec:
        return spec_of(self._graph.languages.get(path, ""))

    def _is_implicit(self, path: bytes) -> bool:
        """Whether types of a file have interfaces by their methods."""
        return self._spec(path).implicit_interfaces

    def required_by(self, path: bytes, symbol: int) -> set[str]:
        """Methods that whatever satisfies an interface of Go has; it need not name it."""
        symbols = self._graph.symbols(path)
        if not self._is_implicit(path) or not 0 <= symbol < len(symbols):
            return set()
        definition = symbols[symbol]
        if definition.kind == "interface":
            return {symbols[at].name for at in symbols_inside(symbols, symbol)}
        inside = definition.parent >= 0 and symbols[definition.parent].kind == "interface"
        return {definition.name} if inside else set()

    def defining(self, names: Set[str]) -> list[bytes]:
        """Files of Go with a definition of one of the names."""
        snapshot = self._snapshot
        rows = (row for name in names for row in snapshot.symbols_with_key(key_of(name)))
        paths = {file.path for file, _, symbol in rows if symbol.name in names}
        return sorted(path for path in paths if self._is_implicit(path))

    def interfaces_asking(self, node: Node) -> list[Node]:
        """Methods of Go's interfaces with the name and the number of parameters of a method."""
        symbols = self._graph.symbols(node.path)
        if not self._is_implicit(node.path) or not 0 <= node.symbol < len(symbols):
            return []
        name = symbols[node.symbol].name
        every = self._snapshot.symbols_with_key(key_of(name))
        definitions = {
            Node(file.path, at): symbol for file, at, symbol in every if symbol.name == name
        }
        if node not in definitions or symbols[node.symbol].kind != "method":
            return []
        count = parameter_count(definitions[node].signature, name)
        asking: list[Node] = []
        for other, definition in definitions.items():
            if not self._is_implicit(other.path) or definition.parent < 0:
                continue
            asks = self._graph.symbols(other.path)[definition.parent].kind == "interface"
            if asks and parameter_count(definition.signature, name) == count:
                asking.append(other)
        return asking

    def of_module(self, path: bytes) -> list[bytes]:
        """Files that may use a module."""
        # `import a.b`, then `a.c`: what is used of a package need not be named in an import.
        named = _face(path).decode("utf-8", "surrogateescape")
        using = {file for file, places in self.of_names({named}) if places}
        return sorted(using.union(self.importers(path)))

    def renaming(self, name: str) -> list[bytes]:
        """Files with an import by which a name is another's, or that asks for the name."""
        contents = self._cache.name_index.renaming(name)
        by_content = self._snapshot.by_content
        return sorted(file.path for content in contents for file in by_content.get(content, ()))

    def importers(self, path: bytes) -> list[bytes]:
        """Files with an import that names a file."""
        known = cast("dict[bytes, list[bytes]]", self._cache.values.setdefault("importers", {}))
        if path not in known:
            known[path] = self._importing(path)
        return known[path]

    def _importing(self, path: bytes) -> list[bytes]:
        importer, languages = self._graph.importer, self._graph.languages
        by_folder = spec_of(languages.get(path, "")).imports_folders
        stem = stem_of(path)
        words: set[bytes] | None = {stem, stem.rpartition(b".")[2]}
        if stem in _FACELESS or by_folder:
            words |= {OWN, *folder_of(path).split(b"/")[-_FOLDERS_TOLD:]}
        files = self._snapshot.by_content
        if not folder_of(path) and by_folder:
            # The root's name stands in a manifest alone.
            words = None
        importers: set[bytes] = set()
        for content, rows in self._cache.name_index.importing(words).items():
            for file in files.get(content, ()):
                language = languages[file.path]
                for row in rows:
                    import_ = Import(row[0], row[1], "", int(row[3]))
                    if (
                        path in importer.targets(file.path, language, import_)
                        or path in importer.targets(file.path, language, import_._replace(name=""))
                        or path in importer.through(file.path, language, import_)
                    ):
                        importers.add(file.path)
                        break
        return sorted(importers)


def _face(path: bytes) -> bytes:
    stem = stem_of(path)
    return name_of(folder_of(path)) if stem in _FACELESS else stem
