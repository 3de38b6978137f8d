"""The graph of a look, resolved as far as a question needs it and kept for the next one.

Backward questions look only into files that hold the name, or an alias of it. What was resolved
stays while the view does; when time runs out the rest is counted, and the next question goes on.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, cast
from weakref import WeakKeyDictionary

from codelens.engine.as_text import count_of
from codelens.engine.look import Look
from codelens.engine.mentions import OWN, Mentions, mentions_of
from codelens.resolve import reading
from codelens.resolve.conventions import is_shipped
from codelens.resolve.edges import Edge
from codelens.resolve.gotext import parameter_count
from codelens.resolve.graph import Graph
from codelens.resolve.model import CALLABLE
from codelens.resolve.net import MODULE, Node, Table, held
from codelens.resolve.tree import folder_of, name_of, stem_of
from codelens.resolve.walk import CONSTRUCTORS
from codelens.store.contents import key_of
from codelens.store.database import Database
from codelens.store.uses import Use
from codelens.types import Import, Receipt, Symbol

_KEPT_VIEWS = 2
_LEAST_SAVED = 8
"""Files: fewer are resolved again in less time than it takes to write them."""
_BY_FOLDER = frozenset({"go", "java", "kotlin", "scala", "csharp", "php", "hcl", "swift"})
"""Languages whose imports may name a folder, and mean all files in it."""
_PROSE = frozenset({"markdown", "rst"})
_FOLDERS_TOLD = 4
# Files that are called for what they are, so that others import them by their folder.
_FACELESS = frozenset({b"__init__", b"index", b"mod", b"lib", b"package-info"})


class Hidden(NamedTuple):
    """Uses of a name that lead to nothing known: one of them may mean what was asked about."""

    name: str
    uses: int
    sites: tuple[tuple[bytes, int], ...]
    """The first few, in order."""


class _Kept:
    """What is known of one state of a view."""

    def __init__(self, look: Look, before: _Kept | None) -> None:
        snapshot = look.snapshot
        by_path = snapshot.by_path

        def read(path: bytes) -> bytes | None:
            file = by_path.get(path)
            return look.read(file) if file is not None else None

        known = before.graph.known if before is not None else None
        self.graph: Graph = reading.graph_of(snapshot, read, known)
        self.table = before.table if before is not None else Table()
        """Edges of files, as long as what they stand on did not change."""
        self.weak = before.weak if before is not None else Table()
        """As `table`, of uses that may mean one of several things."""
        for path in self.table.files() - self.graph.known.checked:
            self.table.remove(path)
            if path in self.weak:
                self.weak.remove(path)
        if self.table.wasteful or self.weak.wasteful:
            self.table, self.weak = Table(), Table()
        self._snapshot = snapshot
        self.tests: dict[bytes, bool] = before.tests if before is not None else {}
        """Path -> whether it is one of tests."""
        self.asked: set[bytes] = set()
        """Files that all edges to, as modules, are known of."""
        self.settled: set[str] = set()
        """Names of which all files that hold them are resolved."""
        self.implemented: set[str] = set()
        """Names of methods of which all files of Go that define them are resolved."""
        self.files = len(by_path)
        self.saved: set[bytes] = set()
        """Files whose edges this process stored."""
        self.values: dict[object, object] = {}
        """Whatever else is worked out from this state alone."""
        self.lasting: dict[object, object] = before.lasting if before is not None else {}
        """What is brought up to date from state to state."""

    @cached_property
    def mentions(self) -> Mentions:
        """Which contents use which names; reads the imports of all that are new, so made late."""
        found = mentions_of(self._snapshot.db)
        found.take(self._snapshot.db, self._snapshot.by_content.keys())
        return found

    def take(self, path: bytes) -> None:
        """Resolve a file."""
        edges = self.graph.all_edges(path)
        certain = [one for one in edges if one.is_certain]
        self.table.add(path, certain)
        if len(certain) < len(edges):
            self.weak.add(path, (one for one in edges if not one.is_certain))

    @property
    def whole(self) -> bool:
        """Every file is resolved."""
        return len(self.table) >= self.files


class LazyNet:
    """A `Net` over a look, for one question.

    Args:
        look: the view; its database must be in a read transaction.
        seconds: how long files may be resolved for.
    """

    def __init__(self, look: Look, seconds: float) -> None:
        self._look = look
        self._kept = _kept_of(look)
        self._deadline = time.monotonic() + seconds
        self.unseen: set[bytes] = set()
        """Files that may hold an edge asked for and could not be resolved in time."""
        self._stopped = False

    @property
    def values(self) -> dict[object, object]:
        """Kept as long as the state of the view."""
        return self._kept.values

    @property
    def lasting(self) -> dict[object, object]:
        """Kept over the states of the view; whoever puts something in keeps it true."""
        return self._kept.lasting

    @property
    def graph(self) -> Graph:
        """All that is known of the view's edges."""
        return self._kept.graph

    def edges_from(self, path: bytes) -> Sequence[Edge]:
        """As `Net`."""
        return self._kept.table.edges_from(path) if self._resolved(path) else ()

    def edges_of(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """As `Net`."""
        return self._kept.table.edges_of(path, symbol) if self._resolved(path) else ()

    def edges_to(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """As `Net`; of the files that hold the name."""
        self._seek(path, symbol)
        return self._kept.table.edges_to(path, symbol)

    def possible_to(self, path: bytes, symbol: int) -> list[Edge]:
        """Edges of uses that may mean a symbol, or something else; of the files with its name."""
        self._seek(path, symbol)
        return self._kept.weak.edges_to(path, symbol)

    def spent(self) -> bool:
        """As `Net`; the receipt says it."""
        self._stopped = self._stopped or self._late()
        return self._stopped

    def _late(self) -> bool:
        return time.monotonic() > self._deadline

    def symbols(self, path: bytes) -> Sequence[Symbol]:
        """As `Net`."""
        return self._kept.graph.symbols(path)

    def is_test(self, path: bytes) -> bool:
        """As `Net`, by the role of the path."""
        known = self._kept.tests
        if path not in known:
            snapshot = self._look.snapshot
            new = [file.path_id for file in snapshot.files if file.path not in known]
            known.update(
                (one.path, one.role == "test" and not is_shipped(one.path))
                for one in snapshot.path_facts(new).values()
            )
            known.setdefault(path, False)
        return known[path]

    def test_files(self) -> list[bytes]:
        """All files of tests."""
        found = self.values.get("tests")
        if found is None:
            files = self._look.snapshot.files
            found = self.values["tests"] = [one.path for one in files if self.is_test(one.path)]
        return cast("list[bytes]", found)

    def table(self) -> Table:
        """All edges known so far."""
        return self._kept.table

    def resolve(self, paths: Iterable[bytes]) -> bool:
        """Resolve files, as far as time allows; False if some are left."""
        whole = True
        for path in paths:
            whole &= self._resolved(path)
        return whole

    def hidden(self, path: bytes, symbol: int, shown: int = 3) -> Hidden:
        """Uses of a definition's name, in the files looked into, that no edge was drawn from."""
        one = self.symbols(path)[symbol]
        count, sites = 0, list[tuple[bytes, int]]()
        table, weak = self._kept.table, self._kept.weak
        # A use that is no call is mostly a variable or an attribute of the same name.
        kinds = {"call"} if one.kind in CALLABLE else {"call", "type"}
        dunder = one.name.startswith("__")
        for file, places in () if dunder else self.holding({one.name}):
            # An example in a text about the code is not broken by it.
            if file not in table or self._kept.graph.languages.get(file) in _PROSE:
                continue
            calls = [place for place in places if place.kind in kinds]
            if calls:
                told = table.lines(file, one.name) | weak.lines(file, one.name)
                lines = [call.line for call in calls if call.line not in told]
                count += len(lines)
                sites += [(file, line) for line in lines[:shown]]
        return Hidden(one.name, count, tuple(sorted(sites)[:shown]))

    def holding(self, names: Set[str]) -> list[tuple[bytes, list[Use]]]:
        """Files of the view that use or import one of the names, by path, with the uses."""
        snapshot = self._look.snapshot
        files = snapshot.by_content
        found = self._kept.mentions.uses(snapshot.db, names)
        return sorted(
            (file.path, places)
            for content, places in found.items()
            for file in files.get(content, ())
        )

    def prepare(self, nodes: Iterable[Node]) -> None:
        """Look for the names of many nodes in one go."""
        kept = self._kept
        if not kept.whole:
            names = {
                name
                for node in nodes
                if node.symbol >= 0
                for name in self._named(*node)
                if name not in kept.settled
            }
            kept.mentions.fetch(self._look.snapshot.db, names)

    def receipt(self) -> Receipt:
        """The look's, `partial` if files could not be resolved in time."""
        receipt = self._look.receipt()
        if not self.unseen and not self._stopped:
            return receipt
        note = "time ran out before all was followed; ask again, for less depth or with more time"
        if self.unseen:
            note = (
                f"{count_of(len(self.unseen), 'more file')} with the names asked about not "
                "resolved yet; ask again to go on"
            )
        return replace(
            receipt, status="partial", note="; ".join(filter(None, (receipt.note, note)))
        )

    def _resolved(self, path: bytes) -> bool:
        table = self._kept.table
        if path in table:
            return True
        if self._late() or (
            self._kept.graph.row_within(path, self._late) is None
            and path in self._kept.graph.languages
        ):
            self.unseen.add(path)
            return False
        self._kept.take(path)
        self.unseen.discard(path)
        return True

    def _seek(self, path: bytes, symbol: int) -> None:
        """Resolve the files that can hold an edge to a node; those of one name only once."""
        kept = self._kept
        if kept.whole:
            return
        if symbol != MODULE:
            names = self._named(path, symbol) - kept.settled
            files = [file for file, _ in self.holding(names)] if names else []
            asked = self._asked_of(path, symbol) - kept.implemented
            if asked:
                files += self._defining(asked)
            if (names or asked) and self.resolve(dict.fromkeys(files)):
                kept.settled |= names
                kept.implemented |= asked
        elif path not in kept.asked and self.resolve(self._using(path)):
            kept.asked.add(path)

    def _asked_of(self, path: bytes, symbol: int) -> set[str]:
        """Methods that whatever satisfies an interface of Go has; it need not name it."""
        symbols = self.symbols(path)
        if self.graph.languages.get(path) != "go" or not 0 <= symbol < len(symbols):
            return set()
        one = symbols[symbol]
        if one.kind == "interface":
            return {symbols[at].name for at in held(symbols, symbol)}
        inside = one.parent >= 0 and symbols[one.parent].kind == "interface"
        return {one.name} if inside else set()

    def interfaces_asking(self, node: Node) -> list[Node]:
        """Methods of Go's interfaces with the name and the number of parameters of a method."""
        symbols, languages = self.symbols(node.path), self.graph.languages
        if languages.get(node.path) != "go" or not 0 <= node.symbol < len(symbols):
            return []
        name = symbols[node.symbol].name
        every = self._look.snapshot.symbols_with_key(key_of(name))
        told = {Node(file.path, at): one for file, at, one in every if one.name == name}
        if node not in told or symbols[node.symbol].kind != "method":
            return []
        count = parameter_count(told[node].signature, name)
        found: list[Node] = []
        for other, one in told.items():
            if languages[other.path] != "go" or one.parent < 0:
                continue
            asks = self.symbols(other.path)[one.parent].kind == "interface"
            if asks and parameter_count(one.signature, name) == count:
                found.append(other)
        return found

    def _defining(self, names: Set[str]) -> list[bytes]:
        """Files of Go with a definition of one of the names."""
        snapshot, languages = self._look.snapshot, self.graph.languages
        rows = (row for name in names for row in snapshot.symbols_with_key(key_of(name)))
        paths = {file.path for file, _, symbol in rows if symbol.name in names}
        return sorted(path for path in paths if languages[path] == "go")

    def _using(self, path: bytes) -> list[bytes]:
        """Files that may use a module."""
        # `import a.b`, then `a.c`: what is used of a package need not be named in an import.
        named = _face(path).decode("utf-8", "surrogateescape")
        using = {file for file, places in self.holding({named}) if places}
        return sorted(using.union(self._importers(path)))

    def _named(self, path: bytes, symbol: int) -> set[str]:
        """The names under which others may know a definition."""
        symbols = self.symbols(path)
        if not 0 <= symbol < len(symbols):
            return set()
        one = symbols[symbol]
        if one.parent < 0:
            return self._kept.mentions.also_called(one.name, _face(path))
        if one.name in CONSTRUCTORS:
            # A call of the type, or of its `new`, may lead to it.
            owner = symbols[one.parent].name
            return {one.name, "new"} | self._kept.mentions.also_called(owner, _face(path))
        if symbols[one.parent].kind == "trait":
            # Where it is overridden the trait is named.
            owner = symbols[one.parent].name
            return {one.name} | self._kept.mentions.also_called(owner, _face(path))
        return {one.name}

    def _importers(self, path: bytes) -> list[bytes]:
        """Files with an import that names a file."""
        known = cast("dict[bytes, list[bytes]]", self.values.setdefault("importers", {}))
        if path not in known:
            known[path] = self._importing(path)
        return known[path]

    def _importing(self, path: bytes) -> list[bytes]:
        importer, languages = self.graph.importer, self.graph.languages
        stem = stem_of(path)
        words: set[bytes] | None = {stem, stem.rpartition(b".")[2]}
        if stem in _FACELESS or languages.get(path) in _BY_FOLDER:
            words |= {OWN, *folder_of(path).split(b"/")[-_FOLDERS_TOLD:]}
        files = self._look.snapshot.by_content
        if not folder_of(path) and languages.get(path) in _BY_FOLDER:
            # The root's name stands in a manifest alone.
            words = None
        found: set[bytes] = set()
        for content, rows in self._kept.mentions.importing(words).items():
            for file in files.get(content, ()):
                language = languages[file.path]
                for row in rows:
                    one = Import(row[0], row[1], "", int(row[3]))
                    if (
                        path in importer.targets(file.path, language, one)
                        or path in importer.targets(file.path, language, one._replace(name=""))
                        or path in importer.through(file.path, language, one)
                    ):
                        found.add(file.path)
                        break
        return sorted(found)


def keep(look: Look) -> None:
    """Store what was resolved for a look, for other processes; not at all if another one writes.

    Outside of any transaction. A question never waits or fails for this.
    """
    kept = _kept_of(look)
    rows = [(path, row) for path, row in kept.graph.fresh if path not in kept.saved]
    # What is not written now is so the next time, or worked out anew.
    if len(rows) >= _LEAST_SAVED and reading.keep(look.snapshot.db, rows):
        kept.saved.update(path for path, _ in rows)


def _face(path: bytes) -> bytes:
    stem = stem_of(path)
    return name_of(folder_of(path)) if stem in _FACELESS else stem


_kept: WeakKeyDictionary[Database, dict[int, tuple[object, _Kept]]] = WeakKeyDictionary()


def _kept_of(look: Look) -> _Kept:
    """What is known of the look's view, from before if nothing in it changed."""
    snapshot = look.snapshot
    mark = (snapshot.row.generation, len(snapshot.files))
    known = _kept.setdefault(snapshot.db, {})
    found = known.pop(snapshot.row.id, None)
    if found is None or found[0] != mark:
        found = (mark, _Kept(look, found[1] if found is not None else None))
    known[snapshot.row.id] = found
    while len(known) > _KEPT_VIEWS:
        del known[next(iter(known))]
    return found[1]
