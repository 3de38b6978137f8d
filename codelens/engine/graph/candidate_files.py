"""Finds files that may have an edge to a node, and caches the edges resolved so far.

The name index is keyed by content, so one index serves every view of a store; each view ignores
contents that it lacks. The index grows until most of its contents are in no view, and is then
rebuilt. It may return too many contents (an alias in another view), never too few.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property, lru_cache
from typing import cast
from weakref import WeakKeyDictionary

from codelens.engine.current_view import CurrentView
from codelens.extract.language_settings import unnamed_methods
from codelens.extract.tokenizer import terms_of_word
from codelens.resolve import graph
from codelens.resolve.edges import Edge
from codelens.resolve.file_model import CALLABLE, TYPES
from codelens.resolve.graph import Graph
from codelens.resolve.languages.go_names import parameter_count
from codelens.resolve.languages.registry import LanguageSpec, spec_of
from codelens.resolve.path_tree import folder_of, name_of, stem_of
from codelens.resolve.precise_edges import PreciseEdges
from codelens.resolve.walk.edge_table import Node, Table, symbols_inside
from codelens.resolve.walk.relation_walk import CONSTRUCTORS
from codelens.store.database.database import Database
from codelens.store.facts import postings, precise_facts, ranking_reads
from codelens.store.facts.contents import contents_by_language
from codelens.store.facts.ranking_reads import Use, Uses
from codelens.store.facts.resolution_facts import key_of
from codelens.store.views.snapshot import Snapshot, StateCache
from codelens.types import Import

OWN = b"."
"""Replaces a word: the importing file's own folder or package."""
_DEFAULT = "default"
_SEPARATORS = re.compile(r"[./\\:]+")
_WORDS = re.compile(r"[^\W\d]\w*")
_DUNDER = re.compile(r"__\w+__")
"""Methods of Python that syntax and functions call: `a + b`, `len(a)`."""
_MOST_ALIASES = 40
_MOST_NAMES_KEPT = 5_000
_MOST_OLD, _FEW = 4, 250
"""The index is stale beyond four times the contents of the view plus some: most are unused."""

Row = tuple[str, ...]
"""Module, name, alias, line of an import."""


class NameIndex:
    """Names by content, for one store."""

    def __init__(self) -> None:
        self._contents: set[int] = set()
        self._by_language: dict[str, set[int]] = {}
        """The contents in each language, read when a name needs them."""
        self._uses: dict[str, dict[int, array[int]]] = {}
        self._aliases: dict[str, set[str]] = {}
        self._defaults: dict[bytes, set[str]] = {}
        self._by_word: dict[bytes, array[int]] = {}
        self._imports: dict[int, bytes] = {}
        """Kept in stored form, because rows would take three times as much memory."""

    def is_stale(self, contents: Set[int]) -> bool:
        """Whether most of its contents can no longer be in any view."""
        return len(self._contents) > _MOST_OLD * (len(contents) + _FEW)

    def take(self, db: Database, contents: Set[int]) -> None:
        """Read the contents that were not read before."""
        new = contents - self._contents
        if not new:
            return
        self._contents |= new
        self._by_language.clear()
        for content, data in ranking_reads.packed_imports(db, sorted(new)):
            self._imports[content] = data
            for row in ranking_reads.unpacked_imports(data):
                self._note(content, row)
        if self._uses:
            self._add(ranking_reads.packed_uses(db, sorted(new), self._uses.keys()))

    def _note(self, content: int, row: Row) -> None:
        module, name, alias, _ = row
        if alias and alias != name and name not in {"", "*", _DEFAULT}:
            self._aliases.setdefault(name, set()).add(alias)
        local = alias or (name if name != _DEFAULT else "")
        if local and local != "*" and name in {"", _DEFAULT, "*"}:
            last = module.rstrip("/").rpartition("/")[2].encode("utf-8", "replace")
            self._defaults.setdefault(stem_of(last) or last, set()).add(local)
        for word in words_of(row):
            contents = self._by_word.get(word)
            if contents is None:
                contents = self._by_word[word] = array("q")
            # The imports of a content are adjacent.
            if not contents or contents[-1] != content:
                contents.append(content)

    def _add(self, read: dict[int, dict[str, array[int]]]) -> None:
        for content, by_name in read.items():
            for name, places in by_name.items():
                self._uses[name][content] = places

    def uses(self, db: Database, names: Set[str]) -> dict[int, Uses]:
        """Contents that use or import one of the names; without places if they only import it."""
        self.fetch(db, names)
        places_of: dict[int, Uses] = {}
        for name in sorted(names):
            for content, places in self._uses[name].items():
                uses_in_content = places_of.get(content)
                if uses_in_content is None:
                    uses_in_content = places_of[content] = Uses()
                uses_in_content.add(name, places)
            # A name may be the end of a longer one: `use App\\Auth`.
            for content in self._by_word.get(name.encode("utf-8", "replace"), ()):
                if content not in places_of:
                    places_of[content] = Uses()
        return places_of

    def fetch(self, db: Database, names: Set[str]) -> None:
        """Look up many names at once."""
        missing = {name for name in names if name not in self._uses}
        if not missing:
            return
        if len(self._uses) > _MOST_NAMES_KEPT:
            self._uses.clear()
            missing = set(names)
        self._uses.update({name: {} for name in missing})
        self._add(ranking_reads.packed_uses(db, sorted(self._with_words(db, missing)), missing))

    def _with_words(self, db: Database, names: Set[str]) -> set[int]:
        """Contents whose text has one of the words; all contents if the index cannot say."""
        # The tokenizer splits a name like `$x` or `a-b` into several words, the parser does not.
        terms: set[str] = set()
        for name in names:
            word = name if name.isidentifier() else max(_WORDS.findall(name), key=len, default="")
            parts = terms_of_word(word) if len(word) > 2 or name == word else ()
            if not parts:
                return set(self._contents)
            terms.add(parts[-1])
        holding = postings.contents_with(db, terms)
        named = set[int]().union(*holding.values()) & self._contents
        return named | self._without_words(db, names)

    def _without_words(self, db: Database, names: Set[str]) -> set[int]:
        """Contents in languages that call one of the methods by an operator or other syntax."""
        if any(_DUNDER.fullmatch(name) for name in names):
            return set(self._contents)
        without: set[int] = set()
        if not self._by_language:
            # Another version may have stored texts of a language that this one does not have.
            for language, stored in contents_by_language(db).items():
                if contents := self._contents.intersection(stored):
                    self._by_language[language] = contents
        for language, contents in self._by_language.items():
            if names & unnamed_methods(language):
                without |= contents
        return without

    def also_called(self, name: str, module: bytes) -> set[str]:
        """The names under which other files may use a top-level definition of a module."""
        names, pending = {name}, [name]
        while pending and len(names) < _MOST_ALIASES:
            for other in sorted(self._aliases.get(pending.pop(), ())):
                if other not in names:
                    names.add(other)
                    pending.append(other)
        return names | self._defaults.get(module, set())

    def renaming(self, name: str) -> set[int]:
        """Contents with an import that gives the name to another definition, or imports it."""
        originals = [original for original, names in self._aliases.items() if name in names]
        words = [original.encode("utf-8", "replace") for original in (name, *originals)]
        return {
            content
            for content, rows in self.importing(words).items()
            if any(name in row[1:3] for row in rows)
        }

    def importing(self, words: Iterable[bytes] | None) -> dict[int, list[Row]]:
        """Contents with an import that has one of the words, and those imports; None: all."""
        if words is None:
            return {
                content: ranking_reads.unpacked_imports(data)
                for content, data in self._imports.items()
            }
        word_set = set(words)
        importing: dict[int, list[Row]] = {}
        for content in set[int]().union(*(self._by_word.get(word, ()) for word in word_set)):
            rows = ranking_reads.unpacked_imports(self._imports[content])
            importing[content] = [row for row in rows if not word_set.isdisjoint(words_of(row))]
        return importing


def words_of(row: Row) -> tuple[bytes, ...]:
    """Possible names of the file that an import means, or of a folder of it."""
    return _words_of(row[0], row[1])


@lru_cache(maxsize=1 << 16)
def _words_of(module: str, name: str) -> tuple[bytes, ...]:
    """Cached by module and name: twenty thousand files of Linux include one header."""
    parts = _SEPARATORS.split(module)
    words = dict.fromkeys(part.encode("utf-8", "replace") for part in (*parts, name) if part)
    return tuple(words) if any(parts) else (*words, OWN)


_index_by_database: WeakKeyDictionary[Database, NameIndex] = WeakKeyDictionary()


def name_index_of(db: Database, contents: Set[int]) -> NameIndex:
    """The cached index of names of a store, updated with the contents of a view."""
    index = _index_by_database.get(db)
    if index is None or index.is_stale(contents):
        # Readers of the old index keep it.
        index = _index_by_database[db] = NameIndex()
    index.take(db, contents)
    return index


# The resolved edges of a view, cached across calls.
#
# The cache lives as long as the view; `keep` stores it for other processes.

_KEPT_VIEWS = 2
_NONE: frozenset[str] = frozenset()
_MOST_SHARED = 64
"""Number of shared sets of names: one call creates a few dozen, and old ones are dropped."""
_KIND_RANKS = {"import": -1, "call": 0}


def _place_in_text(edge: Edge) -> tuple[object, ...]:
    """Imports first, then by line, calls before mentions; the same for a file and its parts."""
    rank = _KIND_RANKS.get(edge.kind, 1)
    return (rank >= 0, edge.line, rank, edge.kind, *edge[2:4], edge.name, edge.symbol)


class EdgeCache:
    """The edges resolved so far for one state of a view."""

    def __init__(self, view: CurrentView, before: EdgeCache | None) -> None:
        snapshot = view.snapshot
        earlier_graph = before.graph.known if before is not None else None
        self.graph: Graph = graph.graph_of(snapshot, view.read_path, earlier_graph)
        self.precise = PreciseEdges(snapshot.db, self.graph)
        """Edges that compilers reported for the files; `table` and `weak` contain them merged with
        those of codelens."""
        self.table = before.table if before is not None else Table()
        """Edges of files, valid until something that they depend on changes."""
        self.weak = before.weak if before is not None else Table()
        """Like `table`, for uses that may mean one of several definitions."""
        self.named: dict[bytes, frozenset[str]] = {}
        """Files of which only the uses of these names are resolved."""
        self._shared: dict[frozenset[str], frozenset[str]] = {}
        for path in self.table.files() - self.graph.known.checked:
            self._remove(path)
        documents = before.precise.document_by_path if before is not None else {}
        if documents != self.precise.document_by_path:
            # A definition that one of them means may have moved.
            for path in documents.keys() | self.precise.document_by_path.keys():
                self._remove(path)
        if self.table.wasteful or self.weak.wasteful:
            self.table, self.weak = Table(), Table()
        self._snapshot = snapshot
        self.tests: dict[bytes, bool] = before.tests if before is not None else {}
        """Path -> whether it is a test file."""
        self.known_modules: set[bytes] = set()
        """Files whose importers are all resolved."""
        self.settled: set[str] = set()
        """Names for which all files that contain them are resolved."""
        self.implemented: set[str] = set()
        """Names of methods for which all Go files that define them are resolved."""
        self.redefined: set[tuple[bytes, int]] = set()
        """Methods for which all files are resolved that may redefine them (`redefining`)."""
        self.files = len(snapshot.by_path)
        self.saved: set[bytes] = set()
        """Files whose edges this process stored."""
        self.saved_parts: set[tuple[bytes, frozenset[str]]] = set()
        """Files and names whose edges this process stored."""
        self.values: dict[object, object] = {}
        """Other data derived from this state only."""
        self.lasting: dict[object, object] = before.lasting if before is not None else {}
        """Data that is carried over from one state of the view to the next."""

    @cached_property
    def name_index(self) -> NameIndex:
        """Which contents use which names; lazy, because it reads all new imports."""
        return name_index_of(self._snapshot.db, self._snapshot.by_content.keys())

    def take(self, path: bytes) -> None:
        """Resolve a file."""
        if self.named.pop(path, None) is not None:
            self._remove(path)
        edges = self.precise.merged(path, self.graph.all_edges(path))
        self._add(path, edges, whole=True)

    def take_named(self, path: bytes, names: Set[str], edges: Iterable[Edge]) -> None:
        """Add the edges of the uses of some names to those already in the cache."""
        cached_names = self.named.get(path, _NONE)
        new = self.precise.merged(path, edges)
        every = [*self.table.edges_from(path), *self.weak.edges_from(path), *new]
        if cached_names:
            self._remove(path)
        self.named[path] = self._share(cached_names | names)
        self._add(path, dict.fromkeys(every), whole=False)

    def not_taken(self, path: bytes, names: Set[str]) -> frozenset[str]:
        """The names for which the edges of a file are not in the cache yet."""
        return self._share(frozenset(names - self.named.get(path, _NONE)))

    def _share(self, names: frozenset[str]) -> frozenset[str]:
        """The shared set of these names.

        A call looks for the same thousand names in hundreds of files; a set for each file took
        200 MiB of 500 (`impact` of Django's `Model`, by tracemalloc).
        """
        if len(self._shared) >= _MOST_SHARED:
            self._shared.clear()
        return self._shared.setdefault(names, names)

    def knows(self, path: bytes, names: Set[str]) -> bool:
        """Whether the cache has all edges of a file for the uses of some names."""
        return path in self.table or names <= self.named.get(path, _NONE)

    def _add(self, path: bytes, edges: Iterable[Edge], *, whole: bool) -> None:
        # Parts are resolved in the order of the calls; answers must not depend on it.
        ordered = sorted(edges, key=_place_in_text)
        certain = [edge for edge in ordered if edge.is_certain]
        self.table.add(path, certain, whole=whole)
        if len(certain) < len(ordered):
            self.weak.add(path, (edge for edge in ordered if not edge.is_certain), whole=whole)

    def _remove(self, path: bytes) -> None:
        self.table.remove(path)
        self.weak.remove(path)

    @property
    def whole(self) -> bool:
        """Whether every file is resolved."""
        return len(self.table) >= self.files


_kept = StateCache[EdgeCache](_KEPT_VIEWS)


def edge_cache_of(view: CurrentView) -> EdgeCache:
    """The edge cache of a view, reused from before if nothing in the view changed."""
    imported = precise_facts.state(view.snapshot.db)
    return _kept.value_of(view.snapshot, lambda before: EdgeCache(view, before), imported)


def keep(view: CurrentView) -> None:
    """Store newly resolved edges for other processes; skip this if another process writes.

    Call it outside of any transaction. It never delays or fails a call. Frees working data.
    """
    cache = edge_cache_of(view)
    rows = [(path, row) for path, row in cache.graph.fresh if path not in cache.saved]
    parts = [part for part in cache.graph.fresh_parts if part[:2] not in cache.saved_parts]
    # Edges that are not stored now are stored next time, or resolved again.
    is_new = bool(rows or parts or cache.graph.fresh_surveys)
    if is_new and graph.keep_graph(cache.graph, view.snapshot.db, rows, parts):
        cache.saved.update(path for path, _ in rows)
        cache.saved_parts.update(part[:2] for part in parts)
    if cache.graph.rest():
        from codelens.engine import background_work

        background_work.give_memory_back()


# Finds the files that may have an edge to a node: they must be resolved to find its users.
#
# A use contains the name that it means, or an alias, so the words of contents find most of them.
# Two exceptions: modules may be imported by a folder's name, and types satisfy interfaces of Go
# without naming them.

_FOLDERS_MATCHED = 4
_SUPER = "super "
"""Prefix of a method's name; cannot collide, as names have no spaces."""
# Files with generic names, which others import by their folder.
_FACELESS = frozenset({b"__init__", b"index", b"mod", b"lib", b"package-info"})


class CandidateFiles:
    """Finds the files that may use some names, in one state of a view.

    The database must be in a read transaction.
    """

    def __init__(self, snapshot: Snapshot, resolved: EdgeCache) -> None:
        self._snapshot = snapshot
        self._cache = resolved
        self._graph = resolved.graph

    def of_names(self, names: Set[str]) -> list[tuple[bytes, Sequence[Use]]]:
        """Files of the view that use or import one of the names, by path, with the uses.

        A method's name after `_SUPER` stands for `super` in files that define a method of that
        name.
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
        """The names under which other files may use a definition."""
        symbols = self._graph.symbols(path)
        if not 0 <= symbol < len(symbols):
            return set()
        definition = symbols[symbol]
        if definition.parent < 0:
            face, index = _face(path), self._cache.name_index
            outside = self._graph.outer_names(path, symbol)
            names = set[str]().union(*(index.also_called(name, face) for name in outside))
            return self._renamed(names) if self._spec(path).spaces else names
        names = {definition.name, *self._graph.outer_names(path, symbol)}
        owner = symbols[definition.parent]
        if definition.name in CONSTRUCTORS:
            # A call of the type or of its `new` may lead to it.
            names |= {"new"} | self._cache.name_index.also_called(owner.name, _face(path))
        elif owner.kind == "trait":
            # Overriding code names the trait.
            names |= self._cache.name_index.also_called(owner.name, _face(path))
        if self._spec(path).nameless_super:
            names.add(_SUPER + definition.name)
        return names

    def _renamed(self, names: set[str]) -> set[str]:
        """The names, and those under which other files export what they import by one of them."""
        index, pending = self._cache.name_index, names
        while pending and len(names) < _MOST_ALIASES:
            renamed: set[str] = set()
            for path, uses in self._using(pending):
                if isinstance(uses, Uses) and uses.are_values:
                    for name in self._graph.exported_as(path, pending):
                        renamed |= index.also_called(name, _face(path))
            pending = renamed - names
            names = names | pending
        return names

    def _spec(self, path: bytes) -> LanguageSpec:
        return spec_of(self._graph.languages.get(path, ""))

    def _is_implicit(self, path: bytes) -> bool:
        """Whether types of the file's language satisfy interfaces by having their methods."""
        return self._spec(path).implicit_interfaces

    def required_by(self, path: bytes, symbol: int) -> set[str]:
        """Methods that a type needs to satisfy an interface of Go, which it need not name."""
        symbols = self._graph.symbols(path)
        if not self._is_implicit(path) or not 0 <= symbol < len(symbols):
            return set()
        definition = symbols[symbol]
        if definition.kind == "interface":
            return {symbols[at].name for at in symbols_inside(symbols, symbol)}
        inside = definition.parent >= 0 and symbols[definition.parent].kind == "interface"
        return {definition.name} if inside else set()

    def defining(self, names: Set[str]) -> list[bytes]:
        """Go files that define one of the names."""
        snapshot = self._snapshot
        rows = (row for name in names for row in snapshot.symbols_with_key(key_of(name)))
        paths = {file.path for file, _, symbol in rows if symbol.name in names}
        return sorted(path for path in paths if self._is_implicit(path))

    def redefining(self, path: bytes, symbol: int) -> list[bytes]:
        """Files that name a method's type and define its name: a class there may have no name."""
        symbols = self._graph.symbols(path)
        if not 0 <= symbol < len(symbols):
            return []
        method = symbols[symbol]
        owner = symbols[method.parent] if method.parent >= 0 else method
        if method.kind not in CALLABLE or owner.kind not in TYPES:
            return []
        naming = {file for file, _ in self.of_names({owner.name})}
        rows = self._snapshot.symbols_with_key(key_of(method.name))
        return sorted(naming & {row.path for row, _, other in rows if other.name == method.name})

    def interfaces_asking(self, node: Node) -> list[Node]:
        """Methods of Go interfaces with the name and number of parameters of a method."""
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
        # `import a.b`, then `a.c`: a package can be used without being named in an import.
        named = _face(path).decode("utf-8", "surrogateescape")
        using = {file for file, places in self.of_names({named}) if places}
        return sorted(using.union(self.importers(path)))

    def renaming(self, name: str) -> list[bytes]:
        """Files with an import that gives the name to another definition, or imports it."""
        contents = self._cache.name_index.renaming(name)
        by_content = self._snapshot.by_content
        return sorted(file.path for content in contents for file in by_content.get(content, ()))

    def importers(self, path: bytes) -> list[bytes]:
        """Files with an import of a file."""
        importers = cast("dict[bytes, list[bytes]]", self._cache.values.setdefault("importers", {}))
        if path not in importers:
            importers[path] = self._importing(path)
        return importers[path]

    def _importing(self, path: bytes) -> list[bytes]:
        importer, languages = self._graph.importer, self._graph.languages
        by_folder = spec_of(languages.get(path, "")).imports_folders
        stem = stem_of(path)
        words: set[bytes] | None = {stem, stem.rpartition(b".")[2]}
        if stem in _FACELESS or by_folder:
            words |= {OWN, *folder_of(path).split(b"/")[-_FOLDERS_MATCHED:]}
        files = self._snapshot.by_content
        if not folder_of(path) and by_folder:
            # Only a manifest contains the name of the root.
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


def files_with(snapshot: Snapshot, words: Sequence[str]) -> set[bytes]:
    """Files of a view that contain all of some words, according to the index."""
    terms = [terms[-1] for word in words if (terms := terms_of_word(word))]
    if not terms:
        return set(snapshot.by_path)
    shared = set[int].intersection(*postings.contents_with(snapshot.db, terms).values())
    return {file.path for content in shared for file in snapshot.by_content.get(content, ())}
