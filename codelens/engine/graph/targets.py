"""Converts handles to nodes of the graph, and nodes to what answers show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from codelens.answers.graph_answers import GraphNode
from codelens.engine.current_view import CurrentView, reader_of
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.ownership import Ownership
from codelens.engine.reading.excerpts import also_at
from codelens.errors import AmbiguousHandle, BadHandle, HandleNotFound
from codelens.extract.file_kinds import decode
from codelens.extract.language_settings import TEXT, language_info
from codelens.handles.handle_grammar import (
    Handle,
    file_handle,
    handle_among,
    known_symbols,
    parse_handle,
    shown_name,
    typed_handle,
)
from codelens.handles.handle_lookup import Finder, Place
from codelens.paths import printed
from codelens.resolve.file_model import CALLABLE, TYPES
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.store.facts.resolution_facts import key_of
from codelens.store.views.views import FileRow
from codelens.types import Symbol
from codelens.wording import some_of

MOST_OF_FOLDER = 2_000
"""Maximum number of files in a folder as a target."""
_MOST_MEMBERS = 2_000
"""Maximum number of members of a type that are looked at."""


class Named(NamedTuple):
    """What a handle names."""

    nodes: list[Node]
    """One symbol, those of some lines, or files (`MODULE`)."""
    whole: bool
    """Whether the files count with everything in them."""
    node: GraphNode
    """How the target is displayed."""
    paths: list[bytes]
    moved: str
    """A sentence, if the target is not exactly what the handle says; else empty."""
    parts: tuple[Named, ...] = ()
    """Each of the definitions, if several have the name."""
    lines: tuple[int, int] | None = None
    """The first and last line of the handle."""

    @property
    def owners(self) -> tuple[GraphNode, ...]:
        """All owners of a name that several definitions have."""
        return tuple(part.node for part in self.parts)


class Targets:
    """Names for the nodes of one view; reads the symbols of each file once."""

    def __init__(self, view: CurrentView, graph: LazyGraph) -> None:
        self.view = view
        self.graph = graph
        self.ref = view.scope.ref if view.scope.kind == "ref" else ""
        """Prefix of returned handles."""
        self._symbols: dict[bytes, Sequence[Symbol]] = {}
        self._lines: dict[bytes, list[str]] = {}
        self._named_modules: dict[str, Sequence[tuple[FileRow, int, Symbol]]] = {}

    def find(self, target: str) -> Named:
        """What a handle names; a folder of the view means everything below it.

        Raises:
            HandleError: it cannot be followed, or has several owners.
        """
        handle = typed_handle(target, self.view.scope.root, self.view.snapshot.by_path)
        if handle.ref and handle.ref != self.ref:
            raise BadHandle(target, f"it is at another ref, {handle.ref!r}; ask at that ref")
        below = self.below(handle)
        if below:
            return self._folder(target, handle, below)
        reader = reader_of(self.view)
        finder = Finder(self.view.snapshot, reader.symbols, self.ref, reader.data)
        try:
            place = finder.find(handle)
        except AmbiguousHandle as error:
            owner_targets = self._only_target(finder, error.owners)
            if owner_targets is None:
                raise
            return owner_targets
        except HandleNotFound:
            renamed = self._renamed(handle)
            if renamed is None:
                raise
            return renamed
        if place.lines is not None:
            # Rejects lines that the file does not have.
            reader.read(place, 0, 1)
        return self._placed(place)

    def places(self, named: Named) -> tuple[GraphNode, ...]:
        """Where a target is defined and declared, and where declarations spell its name."""
        if named.whole:
            return ()
        graph = self.graph
        ownership = Ownership(self.view.snapshot, graph.resolved, graph.naming)
        spelling = [place for node in named.nodes for place in self._spelling(ownership, node)]
        return tuple(map(self.node, dict.fromkeys([*named.nodes, *spelling])))

    def _spelling(self, ownership: Ownership, type_: Node) -> list[Node]:
        """The declarations that spell the name of a type: a rename of it must change them.

        They are constructors and destructors with the name of their type, then members that C++
        defines outside of it (`void Foo::bar() {}`, `int Foo::In::count = 0`), by place.
        """
        symbol = self._symbol(type_)
        language = self.graph.resolved.languages.get(type_.path, "")
        if symbol is None or symbol.kind not in TYPES or not language:
            return []
        members = list(ownership.members(type_))
        builders: list[Node] = []
        if spec_of(language).constructor_is_named_as_type:
            builders = [member for member in members if self._is_builder(member, symbol.name)]
        apart: list[Node] = []
        if language_info(language).declared_apart:
            apart = [
                member
                for member in self._nested(ownership, type_, members)
                if member not in builders and self._is_qualified(member, symbol.name)
            ]
        return [*builders, *apart]

    def _is_builder(self, member: Node, type_name: str) -> bool:
        symbol = self._symbol(member)
        if symbol is None or symbol.kind not in CALLABLE:
            return False
        own_name = symbol.name.removeprefix("~").strip()
        return own_name == type_name or self._is_qualified(member, type_name)

    def _is_qualified(self, member: Node, type_name: str) -> bool:
        symbol = self._symbol(member)
        return symbol is not None and _spells(symbol.signature, type_name, symbol.name)

    def _nested(self, ownership: Ownership, type_: Node, members: Sequence[Node]) -> Iterator[Node]:
        """The members of a type and of the types in it."""
        pending, seen = list(members), {type_}
        while pending and len(seen) < _MOST_MEMBERS:
            member = pending.pop(0)
            if member in seen:
                continue
            seen.add(member)
            yield member
            symbol = self._symbol(member)
            if symbol is not None and symbol.kind in TYPES:
                pending += ownership.members(member)

    def _symbol(self, node: Node) -> Symbol | None:
        symbols = self.symbols(node.path)
        return symbols[node.symbol] if MODULE < node.symbol < len(symbols) else None

    def _renamed(self, handle: Handle) -> Named | None:
        """What an undefined name means in the files that import or export it."""
        name, path = handle.symbol, handle.path
        if not name or "." in name:
            return None
        files = [path] if path is not None and not handle.bare else None
        nodes = list(dict.fromkeys(map(self.graph.body_of, self.graph.imported_as(name, files))))
        if not nodes or len(nodes) > _OWNERS_READ:
            return None
        shown = ", ".join(map(self.handle, nodes))
        sentence = f"{name} is the name of an import or export; it means {shown}"
        paths = list(dict.fromkeys(node.path for node in nodes))
        return Named(nodes, False, self.node(nodes[0]), paths, sentence)

    def _only_target(self, finder: Finder, owners: Sequence[str]) -> Named | None:
        """The only possible target of a name with several owners, if there is one."""
        if len(owners) > _OWNERS_READ:
            return None
        places = [finder.find(parse_handle(owner, self.view.scope.root)) for owner in owners]
        # Headings, data keys and examples in prose are never called; a type stands for its
        # constructors.
        about = self.view.snapshot.about(
            {place.file.content for place in places if place.file.content}
        )
        prose = {content for content, facts in about.items() if _is_prose(facts.language)}
        used = [
            place
            for place in places
            if (place.symbol is None or place.symbol.kind not in _UNUSED)
            and place.file.content not in prose
        ]
        # C++ defines them outside of the type.
        builders = {
            f"{place.symbol.qualified}.{place.symbol.name}"
            for place in used
            if place.symbol is not None and place.symbol.kind in TYPES
        }
        used = [
            place
            for place in used
            if place.symbol is None or place.symbol.qualified not in builders
        ]
        if len(used) == 1:
            return self._placed(used[0])
        if len({_ORDINAL.sub("", place.handle) for place in used}) != 1:
            return self._all_definitions(used)
        nodes = list(dict.fromkeys(self._node(place) for place in used))
        if len(nodes) == 1:
            return self._placed(used[-1])
        first, last = used[0], used[-1]
        sentence = f"all {len(nodes)} definitions of that name are combined, up to {last.handle}"
        every = list(dict.fromkeys(same for node in nodes for same in self.graph.same(node)))
        return Named(every, False, self.node(nodes[0]), [first.file.path], sentence)

    def _all_definitions(self, used: Sequence[Place]) -> Named | None:
        """All definitions with a name, each with its own places."""
        if not used:
            return None
        # The parts of a C# class are one definition.
        by_nodes: dict[frozenset[Node], Named] = {}
        for named in map(self._placed, used):
            by_nodes.setdefault(frozenset(named.nodes), named)
        placed = list(by_nodes.values())
        if len(placed) == 1:
            return placed[0]
        nodes = list(dict.fromkeys(node for part in placed for node in part.nodes))
        shown = some_of([part.node.handle for part in placed], _OWNERS_SHOWN)
        sentence = (
            f"{len(placed)} definitions have that name, and this answer covers all of them: "
            f"{shown}; give one of these handles for that definition only"
        )
        paths = list(dict.fromkeys(path for part in placed for path in part.paths))
        return Named(nodes, False, placed[0].node, paths, sentence, tuple(placed))

    def _placed(self, place: Place) -> Named:
        path = place.file.path
        if place.symbol is not None:
            node = self._node(place)
            also = [
                self._node(
                    Finder(self.view.snapshot, self._indexed_symbols).find(parse_handle(handle))
                )
                for handle in place.also
            ]
            sentence = (
                place.moved or also_at(place) or self._others(node) or self._other_builds(node)
            )
            paths = list(dict.fromkeys([path, *(other.path for other in also)]))
            nodes = list(dict.fromkeys([*self.graph.same(node), *also]))
            return Named(nodes, False, self.node(node), paths, sentence)
        if place.lines is None:
            node = Node(path, MODULE)
            return Named([node], True, self.node(node), [path], place.moved)
        span = place.lines
        span_lines, symbols = (span.start_line, span.end_line), self.symbols(path)
        inner = _named_in(symbols, *span_lines) or innermost(symbols, [span_lines])
        bodies = list(dict.fromkeys(self.graph.body_of(Node(path, at)) for at in inner))
        nodes = list(dict.fromkeys(same for node in bodies for same in self.graph.same(node)))
        if len(bodies) == 1:
            node = self.node(bodies[0])
            return Named(nodes, False, node, [path], place.moved, lines=span_lines)
        lines = GraphNode(
            place.handle, printed(path), span.start_line, span.end_line, "", "lines", "",
            self.graph.is_test(path),
        )  # fmt: skip
        return Named(nodes, False, lines, [path], place.moved, lines=span_lines)

    def _indexed_symbols(self, file: FileRow) -> Sequence[Symbol]:
        return self.symbols(file.path)

    def _others(self, node: Node) -> str:
        """A sentence on the other overloads, if the handle names the first of several."""
        symbols = self.symbols(node.path)
        definition = symbols[node.symbol]
        same = [at for at, other in enumerate(symbols) if other.qualified == definition.qualified]
        if definition.kind not in CALLABLE or len(same) < 2 or node.symbol != same[0]:
            return ""
        last = handle_among(node.path, symbols, same[-1], self.ref)
        return f"the first of {len(same)} definitions of that name; the others are ~2 to {last}"

    def _other_builds(self, node: Node) -> str:
        """A sentence on the definitions that replace this one in other builds."""
        language = self.graph.resolved.languages.get(node.path, "")
        others = self.graph.places(node)[1:] if spec_of(language).platform_file else ()
        if not others:
            return ""
        shown = some_of([self.handle(other) for other in others], _OWNERS_SHOWN)
        return f"other builds use {shown} instead; this answer covers all of them"

    def below(self, handle: Handle) -> list[bytes]:
        """The files in a folder, in order, if a handle names a folder and not a file."""
        if handle.path is None or handle.lines or (handle.symbol and not handle.bare):
            return []
        if handle.path in self.view.snapshot.by_path:
            return []
        prefix = handle.path + b"/" if handle.path else b""
        return sorted(
            file.path for file in self.view.snapshot.files if file.path.startswith(prefix)
        )

    def _folder(self, target: str, handle: Handle, below: list[bytes]) -> Named:
        path = handle.path or b""
        if not path:
            raise BadHandle(
                target, "it is the whole repository, so nothing is outside of it; use map for an "
                "overview"
            )  # fmt: skip
        if len(below) > MOST_OF_FOLDER:
            raise BadHandle(
                target, f"the folder holds {len(below):,} files; name a part of it with at most "
                f"{MOST_OF_FOLDER:,}"
            )  # fmt: skip
        shown = file_handle(path, self.ref)
        moved = ""
        if b"/" not in path and self.view.snapshot.symbols_with_key(key_of(handle.symbol)):
            moved = f"{shown} is read as the folder; #{shown} is the definition of that name"
        folder = GraphNode(f"{shown}/", f"{printed(path)}/", 0, 0, "", "folder", "", False)
        return Named([Node(path_, MODULE) for path_ in below], True, folder, below, moved)

    def _node(self, place: Place) -> Node:
        """The node of a place: by name and order, as the view may be older than the disk."""
        assert place.symbol is not None
        symbols = self.symbols(place.file.path)
        same = [
            at for at, symbol in enumerate(symbols) if symbol.qualified == place.symbol.qualified
        ]
        for at in same:
            if handle_among(place.file.path, symbols, at, self.ref) == place.handle:
                return self.graph.body_of(Node(place.file.path, at))
        raise HandleNotFound(
            place.handle, (), "the index is older than the file; ask again in a moment"
        )

    def symbols(self, path: bytes) -> Sequence[Symbol]:
        """Symbols of a file with their signatures."""
        symbols = self._symbols.get(path)
        if symbols is None:
            file = self.view.snapshot.by_path.get(path)
            symbols = known_symbols(self.view.snapshot, file) if file is not None else ()
            self._symbols[path] = symbols
        return symbols

    def lines(self, path: bytes) -> list[str]:
        """The lines of a file of the view; empty if it cannot be read."""
        lines = self._lines.get(path)
        if lines is None:
            data = self.view.read_path(path)
            text = decode(data).decode("utf-8", "replace") if data else ""
            lines = self._lines[path] = text.split("\n")
        return lines

    def fetch(self, nodes: Sequence[Node]) -> None:
        """Read the symbols of many files at once."""
        by_path = self.view.snapshot.by_path
        missing = {
            file.content: node.path
            for node in nodes
            if node.path not in self._symbols
            and (file := by_path.get(node.path)) is not None
            and file.content is not None
        }
        read = self.view.snapshot.symbols(missing)
        for content, path in missing.items():
            self._symbols[path] = read.get(content, ())

    def without_namespaces(self, nodes: Iterable[Node]) -> list[Node]:
        """Nodes of files without the namespaces that other files open, too.

        A change of a file changes its own parts of `namespace absl`, and not the whole namespace:
        otherwise everything that names it would count as a use.
        """
        return [node for node in nodes if not self._is_namespace(node)]

    def _is_namespace(self, node: Node) -> bool:
        if node.symbol == MODULE:
            return False
        definition = self.symbols(node.path)[node.symbol]
        return definition.kind == "module" and any(
            file.path != node.path
            and other.kind == "module"
            and other.qualified == definition.qualified
            for file, _, other in self._modules(definition.name)
        )

    def _modules(self, name: str) -> Sequence[tuple[FileRow, int, Symbol]]:
        modules = self._named_modules.get(name)
        if modules is None:
            modules = self._named_modules[name] = self.view.snapshot.symbols_with_key(key_of(name))
        return modules

    def handle(self, node: Node) -> str:
        """A node's handle."""
        if node.symbol == MODULE:
            return file_handle(node.path, self.ref)
        return handle_among(node.path, self.symbols(node.path), node.symbol, self.ref)

    def node(self, node: Node) -> GraphNode:
        """A node for display."""
        test = self.graph.is_test(node.path)
        path = printed(node.path)
        symbols = self.symbols(node.path)
        if not 0 <= node.symbol < len(symbols):
            return GraphNode(file_handle(node.path, self.ref), path, 0, 0, "", "file", "", test)
        definition = symbols[node.symbol]
        return GraphNode(
            self.handle(node), path, definition.start_line, definition.end_line,
            shown_name(node.path, definition.qualified), definition.kind, definition.signature,
            test,
        )  # fmt: skip


_OWNERS_READ = 20
_OWNERS_SHOWN = 6
_UNUSED = frozenset({"heading", "key"})
_ORDINAL = re.compile(r"~[0-9]+\Z")


def _spells(signature: str, type_name: str, name: str) -> bool:
    """Whether a declaration qualifies its name by a type: `Foo::In::name`, `Foo<T>::name`."""
    steps = r"(?:\s*<[^()]*?>)?\s*(?:::|\.)\s*(?:\w+(?:\s*<[^()]*?>)?\s*(?:::|\.)\s*)*"
    pattern = rf"\b{re.escape(type_name)}{steps}{re.escape(name)}(?!\w)"
    return re.search(pattern, signature) is not None


def _is_prose(language: str) -> bool:
    return language == TEXT or language_info(language or TEXT).prose


def innermost(symbols: Sequence[Symbol], spans: Sequence[tuple[int, int]]) -> list[int]:
    """The innermost symbols that contain lines, in order; `MODULE` for lines outside of all."""
    inner: set[int] = set()
    for start, end in spans:
        inside = [
            at
            for at, symbol in enumerate(symbols)
            if symbol.start_line <= end and symbol.end_line >= start
        ]
        last = min(end, max((symbols[at].end_line for at in inside), default=start) + 1)
        owners = [MODULE] * (last - start + 1)
        # A parent precedes its members, so the innermost is painted last.
        for at in inside:
            low = max(symbols[at].start_line, start) - start
            high = min(symbols[at].end_line, last) - start + 1
            owners[low:high] = [at] * (high - low)
        inner.update(owners)
    return sorted(inner)


def _named_in(symbols: Sequence[Symbol], line: int, last: int) -> list[int]:
    """The definitions whose name is in the given line, without those nested in another.

    `def f(x: {"id": int})` means `f`, and not the contents of its signature.
    """
    if line != last:
        return []
    named = {at for at, symbol in enumerate(symbols) if symbol.name_line == line}
    return [at for at in sorted(named) if symbols[at].parent not in named]
