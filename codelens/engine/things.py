"""From handles to nodes of the graph, and back from nodes to what is shown of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codelens.engine.graph_answers import Thing
from codelens.engine.graphs import LazyNet
from codelens.engine.look import Look
from codelens.errors import AmbiguousHandle, BadHandle, HandleNotFound
from codelens.handles.find import Finder, Place, handle_among, known_symbols
from codelens.handles.grammar import file_handle, parse_handle
from codelens.handles.read import Reader
from codelens.paths import printed
from codelens.resolve.model import CALLABLE
from codelens.resolve.net import MODULE, Node
from codelens.types import Symbol


class Things:
    """Names for the nodes of one look; each file's symbols are read once."""

    def __init__(self, look: Look, net: LazyNet) -> None:
        self.look = look
        self.net = net
        self.ref = look.scope.ref if look.scope.kind == "ref" else ""
        self._symbols: dict[bytes, Sequence[Symbol]] = {}

    def find(self, target: str) -> tuple[Place, list[Node]]:
        """What a handle names, as nodes: one symbol, those of some lines, or the file (`MODULE`).

        Raises:
            HandleError: it cannot be followed, or has several owners.
        """
        handle = parse_handle(target, self.look.scope.root)
        if handle.ref and handle.ref != self.ref:
            raise BadHandle(target, f"it names {handle.ref!r}; give that as the ref to look at")
        reader = Reader(
            self.look.repository, self.look.scope, self.look.snapshot, self.look.settings.languages
        )
        finder = Finder(self.look.snapshot, reader.symbols, self.ref)
        try:
            place = finder.find(handle)
        except AmbiguousHandle as error:
            last = _only_overloads(error.owners)
            if not last:
                raise
            place = finder.find(parse_handle(last, self.look.scope.root))
        if place.symbol is not None:
            return place, [self._node(place)]
        if place.lines is None:
            return place, [Node(place.file.path, MODULE)]
        span = place.lines
        found = innermost(self.symbols(place.file.path), [(span.start_line, span.end_line)])
        return place, [Node(place.file.path, at) for at in found]

    def _node(self, place: Place) -> Node:
        """The node of a place: by name and order, as the view's text may be older than the disk."""
        assert place.symbol is not None
        symbols = self.symbols(place.file.path)
        same = [at for at, one in enumerate(symbols) if one.qualified == place.symbol.qualified]
        for at in same:
            if handle_among(place.file.path, symbols, at, self.ref) == place.handle:
                if self._overloaded(place, [symbols[one] for one in same]):
                    # Edges are drawn to the last, which has the body.
                    return Node(place.file.path, same[-1])
                return Node(place.file.path, at)
        raise HandleNotFound(
            place.handle, (), "the index is behind its file; ask again without a budget"
        )

    def _overloaded(self, place: Place, same: Sequence[Symbol]) -> bool:
        """Definitions of one name that are one thing: signatures, and the body behind them."""
        if len(same) < 2 or any(one.kind not in CALLABLE for one in same):
            return False
        content = place.file.content
        about = self.look.snapshot.about([content] if content is not None else [])
        return any(one.language in _OVERLOADING for one in about.values())

    def symbols(self, path: bytes) -> Sequence[Symbol]:
        """Symbols of a file with their signatures."""
        known = self._symbols.get(path)
        if known is None:
            file = self.look.snapshot.by_path.get(path)
            known = known_symbols(self.look.snapshot, file) if file is not None else ()
            self._symbols[path] = known
        return known

    def fetch(self, nodes: Sequence[Node]) -> None:
        """Read the symbols of many files in one go."""
        by_path = self.look.snapshot.by_path
        missing = {
            file.content: node.path
            for node in nodes
            if node.path not in self._symbols
            and (file := by_path.get(node.path)) is not None
            and file.content is not None
        }
        read = self.look.snapshot.symbols(missing)
        for content, path in missing.items():
            self._symbols[path] = read.get(content, ())

    def handle(self, node: Node) -> str:
        """A node's handle."""
        if node.symbol == MODULE:
            return file_handle(node.path, self.ref)
        return handle_among(node.path, self.symbols(node.path), node.symbol, self.ref)

    def thing(self, node: Node) -> Thing:
        """A node, to be shown."""
        test = self.net.is_test(node.path)
        path = printed(node.path)
        symbols = self.symbols(node.path)
        if not 0 <= node.symbol < len(symbols):
            return Thing(file_handle(node.path, self.ref), path, 0, 0, "", "file", "", test)
        one = symbols[node.symbol]
        return Thing(
            self.handle(node), path, one.start_line, one.end_line, one.qualified, one.kind,
            one.signature, test,
        )  # fmt: skip


_OVERLOADING = frozenset({"python", "typescript", "tsx"})
_ORDINAL = re.compile(r"~[0-9]+\Z")


def _only_overloads(owners: Sequence[str]) -> str:
    """The last of several owners if they differ in nothing but their number; else empty."""
    return owners[-1] if len({_ORDINAL.sub("", one) for one in owners}) == 1 else ""


def innermost(symbols: Sequence[Symbol], spans: Sequence[tuple[int, int]]) -> list[int]:
    """The innermost symbols that lines lie in, in order; `MODULE` for lines that are in none."""
    found: set[int] = set()
    for start, end in spans:
        inside = [
            at for at, one in enumerate(symbols) if one.start_line <= end and one.end_line >= start
        ]
        last = min(end, max((symbols[at].end_line for at in inside), default=start) + 1)
        owners = [MODULE] * (last - start + 1)
        # A parent stands before what it holds, so the innermost is painted last.
        for at in inside:
            low = max(symbols[at].start_line, start) - start
            high = min(symbols[at].end_line, last) - start + 1
            owners[low:high] = [at] * (high - low)
        found.update(owners)
    return sorted(found)
