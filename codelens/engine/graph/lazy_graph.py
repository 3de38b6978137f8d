"""How long a question may work: CPU time of the thread that asks, not time by the clock.

So other work on the machine does not make an answer partial. Only after several times as long by
the clock a walk ends all the same, as somebody waits for it.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from operator import attrgetter
from typing import cast

from codelens.cancellation import check_cancelled
from codelens.engine.current_view import CurrentView, ViewRequest
from codelens.engine.graph import candidate_files
from codelens.engine.graph.candidate_files import CandidateFiles, edge_cache_of
from codelens.engine.graph.declared_places import ConstructorCalls, DeclaredPlaces
from codelens.engine.index_pool import IndexPool, seconds_left
from codelens.extract.language_settings import TEXT, language_info
from codelens.resolve.edges import CERTAIN, Edge
from codelens.resolve.file_model import CALLABLE, TYPES
from codelens.resolve.graph import Graph
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.walk.edge_table import DERIVING, MODULE, Node, Table
from codelens.resolve.walk.named_tests import NamedTests, is_shipped
from codelens.resolve.walk.relation_walk import CONSTRUCTORS
from codelens.store.facts.ranking_reads import Use
from codelens.types import Receipt, Symbol
from codelens.wording import count_of

_WAITING = 4
"""How many times the time for work may pass by the clock."""


class WorkLimit:
    """Begins when it is made.

    Args:
        seconds: how long the thread may work.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = time.thread_time()
        self._deadline = time.monotonic() + _WAITING * seconds
        self._next_look = time.monotonic() + seconds
        self._reached = False

    def extend(self, seconds: float) -> None:
        """Allow so much more: for what comes after the first part of a question."""
        self._seconds += seconds
        self._deadline += _WAITING * seconds
        self._next_look, self._reached = time.monotonic(), False

    def is_past(self, times: float) -> bool:
        """The thread worked so many times as long as it may."""
        return time.thread_time() - self._began > times * self._seconds

    def is_reached(self) -> bool:
        """The work is done, or it took far too long."""
        now = time.monotonic()
        if self._reached or now < self._next_look:
            return self._reached
        # Asking for CPU time is slow on some systems; a thread works no longer than the clock goes.
        left = self._seconds - (time.thread_time() - self._began)
        self._reached = left <= 0 or now > self._deadline
        self._next_look = min(now + left, self._deadline)
        return self._reached


# The graph of a look, resolved as far as a question needs it.
#
# Backward questions look only into files that hold the name, or an alias of it. When time runs out
# the rest is counted, and the next question goes on from what is kept of the view
# (`edge_cache.py`).
#
# What time is: `cpu_limit.py`.

_SOURCE = attrgetter("source")
_USE = attrgetter("source", "symbol", "line", "name", "kind")
_FEW_FILES = 12
"""So many files are resolved whole: what others ask of them next is known then."""
_KEPT_TIMES, _FIRST_FILE_TIMES = 2, 5
"""How many times its limit a question may take for what is kept, and for its first file."""
_MOST_PARTS = 4
"""How often some uses of a file are resolved before all of them are."""


class LazyGraph:
    """An `EdgeReader` over a look, for one question.

    Args:
        view: the view; its database must be in a read transaction.
        limit: how long files may be resolved for, in seconds, or what several graphs share.
    """

    def __init__(self, view: CurrentView, limit: float | WorkLimit) -> None:
        self._view = view
        self._edge_cache = edge_cache_of(view)
        self._candidates = CandidateFiles(view.snapshot, self._edge_cache)
        self._constructor_calls = ConstructorCalls(
            view.snapshot, self._edge_cache.graph, self._drawn_to
        )
        self._declared_places = DeclaredPlaces(view.snapshot, self._edge_cache.graph)
        self._limit = limit if isinstance(limit, WorkLimit) else WorkLimit(limit)
        self.unseen: set[bytes] = set()
        """Files that may hold an edge asked for and could not be resolved in time."""
        self._stopped = self._has_resolved = False

    def trust(self, other: LazyGraph) -> None:
        """Take over what another view's graph resolved, as far as it holds in this one."""
        self._edge_cache.graph.trust(other.resolved)

    @property
    def values(self) -> dict[object, object]:
        """Kept as long as the state of the view."""
        return self._edge_cache.values

    @property
    def lasting(self) -> dict[object, object]:
        """Kept over the states of the view; whoever puts something in keeps it true."""
        return self._edge_cache.lasting

    @property
    def resolved(self) -> Graph:
        """All that is known of the view's edges."""
        return self._edge_cache.graph

    def edges_from(self, path: bytes) -> Sequence[Edge]:
        """As `EdgeReader`."""
        return self._edge_cache.table.edges_from(path) if self._resolve_whole(path) else ()

    def edges_of(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """As `EdgeReader`."""
        return self._edge_cache.table.edges_of(path, symbol) if self._resolve_whole(path) else ()

    def deriving_edges(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """As `EdgeReader`; of a file that is not resolved only what its types derive from is."""
        cache = self._edge_cache
        if path not in cache.table:
            names = frozenset(cache.graph.base_names(path))
            keeps_names = spec_of(cache.graph.languages.get(path, "")).keeps_names
            known = keeps_names and cache.knows(path, names)
            if not known and not self._resolve_few(path, names):
                return ()
        edges = cache.table.edges_of(path, symbol)
        return [edge for edge in edges if edge.kind in DERIVING]

    def edges_to(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """As `EdgeReader`; of the files that hold the name. A constructor has those of its type."""
        node = Node(path, symbol)
        drawn = self._drawn_to(node)
        more = [edge for edge in self._constructor_calls.of(node) if edge.is_certain]
        more += [edge._replace(confidence=CERTAIN) for edge in self._of_one_thing(node)]
        return sorted([*drawn, *more], key=_SOURCE) if more else drawn

    def _of_one_thing(self, node: Node) -> list[Edge]:
        """Edges of uses that mean a node or an alternative of it, and nothing else.

        Of definitions in the branches of an `#if` a build takes one, and the use means that.
        """
        possible_uses = self._edge_cache.weak
        edges = possible_uses.edges_to(*node)
        others = self._declared_places.alternatives(node) if edges else ()
        if not others:
            return []
        meant = [{_USE(edge) for edge in possible_uses.edges_to(*place)} for place in others]
        return [
            edge for edge in edges if sum(_USE(edge) in uses for uses in meant) + 1 == edge.choices
        ]

    def derived_from(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """As `EdgeReader`; what only uses a type is not resolved, and that is most of its files."""
        cache = self._edge_cache
        names = self._candidates.names_of(path, symbol)
        if not (cache.whole or names <= cache.settled):
            files = [file for file, _ in self.holding(names) if self._may_derive(file, names)]
            self._resolve_named(files, names)
        return [edge for edge in self.known_users(path, symbol) if edge.kind == "inherit"]

    def _may_derive(self, path: bytes, names: Set[str]) -> bool:
        """Whether a type in a file may name one of these as its base."""
        graph = self._edge_cache.graph
        spec = spec_of(graph.languages.get(path, ""))
        is_told = spec.keeps_names or spec.bases_are_told
        return not is_told or not names.isdisjoint(graph.base_names(path))

    def _drawn_to(self, node: Node) -> Sequence[Edge]:
        """The edges that end at a node itself."""
        self._seek(*node)
        return self.known_users(*node)

    def knows_users(self, path: bytes, symbol: int) -> bool:
        """Whether all edges to a definition are known that come from where its name stands."""
        cache = self._edge_cache
        names = self._candidates.names_of(path, symbol)
        if cache.whole or names <= cache.settled:
            return True
        return all(cache.knows(file, names) for file, _ in self.holding(names))

    def known_users(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """The edges to a definition from what is resolved by now; files in order of their path."""
        # They were resolved in the order of the questions.
        return sorted(self._edge_cache.table.edges_to(path, symbol), key=_SOURCE)

    def possible_to(self, path: bytes, symbol: int) -> list[Edge]:
        """Edges of uses that may mean a symbol, or something else; of the files with its name."""
        self._seek(path, symbol)
        built = self._constructor_calls.of(Node(path, symbol))
        edges = [edge for edge in built if not edge.is_certain]
        of_one_thing = set(self._of_one_thing(Node(path, symbol)))
        drawn = self._edge_cache.weak.edges_to(path, symbol)
        edges += [edge for edge in drawn if edge not in of_one_thing]
        return sorted(edges, key=_SOURCE)

    def spent(self) -> bool:
        """As `EdgeReader`; the receipt says it."""
        self._stopped = self._stopped or self._late()
        return self._stopped

    def _has_edges(self, path: bytes) -> bool:
        """Whether the edges of a file are known by now, resolved if there is time."""
        graph = self._edge_cache.graph
        is_late = self._late()
        # What was resolved before is given again, or the answer would never be whole.
        if (not is_late or not self._limit.is_past(_KEPT_TIMES)) and graph.is_known(path):
            return True
        if is_late and self._has_resolved:
            return False
        if graph.row_within(path, self._late_within) is None:
            return False
        self._has_resolved = True
        return True

    def _late_within(self) -> bool:
        """As `_late`, inside of a file: the first is resolved, or nothing came of asking again."""
        return self._late() and (self._has_resolved or self._limit.is_past(_FIRST_FILE_TIMES))

    @property
    def is_stopped(self) -> bool:
        """Whether a walk had to end."""
        return self._stopped

    def _late(self) -> bool:
        check_cancelled()
        return self._limit.is_reached()

    def symbols(self, path: bytes) -> Sequence[Symbol]:
        """As `EdgeReader`."""
        return self._edge_cache.graph.symbols(path)

    def places(self, node: Node) -> Sequence[Node]:
        """As `EdgeReader`."""
        return (node, *self._declared_places.others(node))

    def alias_of(self, edge: Edge) -> Node | None:
        """As `EdgeReader`."""
        symbol = self.resolved.alias_at(edge.source, edge.line, edge.name)
        return Node(edge.source, symbol) if edge.kind == "ref" and symbol >= 0 else None

    def body_of(self, node: Node) -> Node:
        """Of declared overloads the one that runs, where edges to any of them end."""
        return self._declared_places.body_of(node)

    def same(self, node: Node) -> list[Node]:
        """All places of a definition: its overloads, stubs and declarations; its body first."""
        return self._declared_places.same(node)

    def is_test(self, path: bytes) -> bool:
        """As `EdgeReader`, by the role of the path."""
        known = self._edge_cache.tests
        if path not in known:
            snapshot = self._view.snapshot
            new = [file.path_id for file in snapshot.files if file.path not in known]
            # By the path that the view holds: a copy of each takes 6 MiB of 78,000.
            known.update(
                (
                    snapshot.by_path[facts.path].path,
                    facts.role == "test" and not is_shipped(facts.path),
                )
                for facts in snapshot.path_facts(new).values()
            )
            known.setdefault(path, False)
        return known[path]

    def test_files(self) -> list[bytes]:
        """All files of tests."""
        paths = self.values.get("tests")
        if paths is None:
            files = self._view.snapshot.files
            paths = self.values["tests"] = [file.path for file in files if self.is_test(file.path)]
        return cast("list[bytes]", paths)

    def tests_named_for(self, path: bytes) -> list[bytes]:
        """Test files whose path says that they test a file; the most alike first."""
        named_tests = self.values.get("named tests")
        if named_tests is None:
            every = (file.path for file in self._view.snapshot.files)
            named_tests = self.values["named tests"] = NamedTests(self.test_files(), every)
        return cast("NamedTests", named_tests).of(path)

    def table(self) -> Table:
        """All edges known so far."""
        return self._edge_cache.table

    def resolve(self, paths: Iterable[bytes]) -> bool:
        """Resolve files, as far as time allows; False if some are left."""
        whole = True
        for path in paths:
            whole &= self._resolve_whole(path)
        return whole

    def _resolve_named(self, paths: Iterable[bytes], names: Set[str]) -> bool:
        """As `resolve`; where many files are left, of most no more than the uses of some names."""
        cache = self._edge_cache
        left = [path for path in paths if not cache.knows(path, names)]
        whole = True
        for path in left:
            few = len(left) <= _FEW_FILES or self._has_enough_parts(path, names)
            whole &= self._resolve_whole(path) if few else self._resolve_few(path, names)
        return whole

    def _has_enough_parts(self, path: bytes, names: Set[str]) -> bool:
        """Whether so much of a file is resolved that the whole costs little more than new names."""
        graph = self._edge_cache.graph
        return graph.parts_of(path) >= _MOST_PARTS and not graph.has_parts(path, names)

    def _resolve_few(self, path: bytes, names: Set[str]) -> bool:
        """Resolve the uses of some names in a file; all of it where that is known or needed."""
        graph = self._edge_cache.graph
        keeps_names = spec_of(graph.languages.get(path, "")).keeps_names
        if not keeps_names or graph.is_known(path):
            return self._resolve_whole(path)
        return self._cache_named(path, names)

    def _cache_named(self, path: bytes, names: Set[str]) -> bool:
        cache = self._edge_cache
        new = cache.not_taken(path, names)
        edges = None if self._late() else cache.graph.edges_named(path, new, self._late)
        if edges is None:
            self.unseen.add(path)
            return False
        cache.take_named(path, new, edges)
        self.unseen.discard(path)
        return True

    def leads(self, path: bytes, line: int, name: str) -> bool:
        """Whether a use of a name in a line of a resolved file leads, or may lead, somewhere."""
        table, possible_uses = self._edge_cache.table, self._edge_cache.weak
        return line in table.lines(path, name) or line in possible_uses.lines(path, name)

    def unresolved(
        self, path: bytes, symbol: int, *, listed: bool = True
    ) -> list[tuple[bytes, int]]:
        """Files and lines of the uses of a definition's name that no edge was drawn from.

        Only of files that are resolved for the name: `prepare` first. Possible edges count as drawn
        where they are `listed` apart.
        """
        definition = self.symbols(path)[symbol]
        name, sites = definition.name, list[tuple[bytes, int]]()
        table, possible_uses = self._edge_cache.table, self._edge_cache.weak
        # A use that is no call is mostly a variable or an attribute of the same name.
        kinds = {"call"} if definition.kind in CALLABLE else {"call", "type"}
        for file, places in () if name.startswith("__") else self.holding({name}):
            # A change breaks no example in a text about the code.
            known = self._edge_cache.knows(file, {name})
            language = self._edge_cache.graph.languages.get(file) or TEXT
            if not known or language_info(language).prose:
                continue
            lines = dict.fromkeys(place.line for place in places if place.kind in kinds)
            if lines:
                resolved = table.lines(file, name)
                if listed:
                    resolved = resolved | possible_uses.lines(file, name)
                left = [line for line in lines if line not in resolved]
                variables = self.resolved.variable_lines(file, name) if left else set[int]()
                sites += [(file, line) for line in left if line not in variables]
        return sorted(sites)

    def importers(self, path: bytes) -> list[bytes]:
        """Files with an import that names a file."""
        return self._candidates.importers(path)

    def imported_as(self, name: str, paths: Iterable[bytes] | None = None) -> list[Node]:
        """The definitions that files, all without `paths`, import or export under a name."""
        files = self._candidates.renaming(name) if paths is None else paths
        referents = (
            referent for path in files for referent in self.resolved.imported_as(path, name)
        )
        return list(dict.fromkeys(Node(*referent[:2]) for referent in referents))

    def holding(self, names: Set[str]) -> list[tuple[bytes, Sequence[Use]]]:
        """Files of the view that use or import one of the names, by path, with the uses."""
        return self._candidates.of_names(names)

    def naming(self, name: str) -> list[bytes]:
        """Files of the view that use or import a name, by path."""
        return [path for path, _ in self.holding({name})]

    def interfaces_asking(self, node: Node) -> list[Node]:
        """Methods of Go's interfaces with the name and the number of parameters of a method."""
        return self._candidates.interfaces_asking(node)

    def prepare(self, nodes: Iterable[Node]) -> None:
        """Resolve what can hold edges to many nodes in one go, for each file once."""
        cache = self._edge_cache
        if cache.whole:
            return
        every = [node for node in nodes if node.symbol >= 0]
        names = {
            name
            for node in every
            for name in self._candidates.names_of(*node)
            if name not in cache.settled
        }
        if names and self._resolve_named([file for file, _ in self.holding(names)], names):
            cache.settled |= names
        for node in every:
            self._seek_inside(node)

    def receipt(self) -> Receipt:
        """The look's, `partial` if files could not be resolved in time."""
        receipt = self._view.receipt()
        if not self.unseen and not self._stopped:
            return receipt
        note = (
            "time ran out before all edges were followed; ask again, with a smaller depth "
            "or more time"
        )
        if self.unseen:
            note = (
                f"{count_of(len(self.unseen), 'more file')} with these names not resolved "
                "yet; ask again to continue, or with more time"
            )
        return replace(
            receipt, status="partial", note="; ".join(filter(None, (receipt.note, note)))
        )

    def _resolve_whole(self, path: bytes) -> bool:
        table = self._edge_cache.table
        if path in table:
            return True
        if path in self._edge_cache.graph.languages and not self._has_edges(path):
            self.unseen.add(path)
            return False
        self._edge_cache.take(path)
        self.unseen.discard(path)
        return True

    def _seek(self, path: bytes, symbol: int) -> None:
        """Resolve the files that can hold an edge to a node; those of one name only once."""
        cache = self._edge_cache
        if cache.whole:
            return
        if symbol != MODULE:
            names = self._candidates.names_of(path, symbol) - cache.settled
            if names and self._resolve_named([file for file, _ in self.holding(names)], names):
                cache.settled |= names
            self._seek_inside(Node(path, symbol))
            methods = self._candidates.required_by(path, symbol) - cache.implemented
            if methods and self.resolve(self._candidates.defining(methods)):
                cache.implemented |= methods
        elif path not in cache.known_modules and self.resolve(self._candidates.of_module(path)):
            cache.known_modules.add(path)

    def _seek_inside(self, node: Node) -> None:
        """Resolve the file of a type or constructor, where it is used without its name.

        `cls(1)` and `this(1)` name no type, and no other use in the file need name it.
        """
        if self._is_used_unnamed(node):
            names = self._candidates.names_of(*node)
            self._resolve_named([node.path], names)

    def _is_used_unnamed(self, node: Node) -> bool:
        symbols = self.symbols(node.path)
        if not 0 <= node.symbol < len(symbols):
            return False
        definition = symbols[node.symbol]
        return definition.kind in TYPES or definition.name in CONSTRUCTORS


# A view whose graph is walked by a question.


@contextmanager
def walked_view(pool: IndexPool, view_request: ViewRequest) -> Generator[tuple[CurrentView, float]]:
    """A view in a read transaction, and the seconds left to walk; what is resolved is kept."""
    started = time.monotonic()
    with pool.view(view_request) as view:
        with view.reading():
            yield view, seconds_left(view_request.budget_ms, started)
        candidate_files.keep(view)
