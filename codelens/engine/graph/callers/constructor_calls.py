"""Calls of a type, told as calls of the constructor that they run.

An edge of a use that makes an instance ends at the type. Who asks for the constructor is told
those of its type, and of subtypes that have no constructor of their own. Where a type has several,
the number of arguments tells them apart; a call that several can take is a possible edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from codelens.branches.parameters import parameters
from codelens.engine.graph.ownership import Ownership
from codelens.handles.handle_naming import known_symbols
from codelens.resolve.edges import Edge
from codelens.resolve.facts.file_model import CALLABLE, TYPES
from codelens.resolve.graph import Graph
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.walk.edge_table import MODULE, Node, symbols_inside
from codelens.store.views.snapshot import Snapshot
from codelens.types import Symbol

_MOST_TYPES = 200
"""Subtypes of a type whose constructor is asked about."""
_UNKNOWN = -1


class ConstructorCalls:
    """Answers for one state of a view; its database must be in a read transaction.

    Args:
        snapshot: the view.
        graph: its graph.
        edges_to: the edges that end at a definition, resolved as far as time allows.
    """

    def __init__(
        self, snapshot: Snapshot, graph: Graph, edges_to: Callable[[Node], Sequence[Edge]]
    ) -> None:
        self._snapshot = snapshot
        self._graph = graph
        self._edges_to = edges_to
        self._ownership = Ownership(snapshot, graph)
        self._signed: dict[bytes, Sequence[Symbol]] = {}

    def of(self, node: Node) -> list[Edge]:
        """Calls that run a constructor, or may run it; none for anything else."""
        owner = self._type_built_by(node)
        if owner is None:
            return []
        rivals = self._rivals(node, owner)
        edges: list[Edge] = []
        for edge in self._calls(owner):
            choices = self._choices(edge, node, rivals)
            if choices:
                edges.append(
                    edge._replace(
                        target=node.path, target_symbol=node.symbol, confidence=1 / choices
                    )
                )
        return edges

    def _type_built_by(self, node: Node) -> Node | None:
        symbols = self._graph.symbols(node.path)
        if not 0 <= node.symbol < len(symbols):
            return None
        definition = symbols[node.symbol]
        if definition.kind not in CALLABLE or "." not in definition.qualified:
            return None
        owner_name = definition.qualified.removesuffix(definition.name).rstrip(".")
        if not self._is_constructor(node.path, definition.name, owner_name.rpartition(".")[2]):
            return None
        owner = self._ownership.owner(node)
        if owner.symbol == MODULE:
            return None
        return owner if self._graph.symbols(owner.path)[owner.symbol].kind in TYPES else None

    def _is_constructor(self, path: bytes, name: str, type_name: str) -> bool:
        spec = spec_of(self._graph.languages.get(path, ""))
        return name in spec.constructors or (
            spec.constructor_is_named_as_type and name == type_name
        )

    def _calls(self, owner: Node) -> Iterator[Edge]:
        """Calls of a type and of the subtypes that are built by its constructor."""
        pending, seen = [owner], {owner}
        while pending:
            for edge in self._edges_to(pending.pop()):
                subtype = Node(edge.source, edge.symbol)
                if edge.kind == "call":
                    yield edge
                elif edge.kind == "inherit" and subtype not in seen and len(seen) < _MOST_TYPES:
                    seen.add(subtype)
                    if not self._constructors(subtype):
                        pending.append(subtype)

    def _constructors(self, type_: Node) -> list[int]:
        symbols = self._graph.symbols(type_.path)
        if type_.symbol == MODULE:
            return []
        name = symbols[type_.symbol].name
        return [
            at
            for at in symbols_inside(symbols, type_.symbol)
            if symbols[at].kind in CALLABLE
            and self._is_constructor(type_.path, symbols[at].name, name)
        ]

    def _rivals(self, node: Node, owner: Node) -> list[Symbol]:
        """The other constructors of the type, with what its own line declares as one."""
        spec = spec_of(self._graph.languages.get(node.path, ""))
        if not spec.overloads:
            return []
        symbols = self._signatures(owner.path)
        type_ = symbols[owner.symbol]
        rivals = [symbols[at] for at in self._constructors(owner) if Node(owner.path, at) != node]
        if node.path != owner.path or node.symbol not in self._constructors(owner):
            # Defined apart from the type: what declares it there is the same one.
            own = self._parameters(self._signatures(node.path)[node.symbol])
            rivals = [rival for rival in rivals if self._parameters(rival) != own]
        if parameters(type_.signature, type_.name) is not None:
            rivals.append(type_)
        return rivals

    def _parameters(self, constructor: Symbol) -> list[str]:
        declared = parameters(constructor.signature, constructor.name) or []
        return [parameter.text.partition("=")[0].strip() for parameter in declared]

    def _signatures(self, path: bytes) -> Sequence[Symbol]:
        known = self._signed.get(path)
        if known is None:
            file = self._snapshot.by_path.get(path)
            known = known_symbols(self._snapshot, file) if file is not None else ()
            self._signed[path] = known
        return known

    def _choices(self, edge: Edge, node: Node, rivals: Sequence[Symbol]) -> int:
        """Of how many constructors that a call may run this is one; 0 if it runs another."""
        if not rivals:
            return 1
        numbers = {
            reference.arguments
            for reference in self._graph.references(edge.source)
            if reference.line == edge.line
            and reference.name == edge.name
            and reference.kind == "call"
        }
        if not numbers or _UNKNOWN in numbers:
            return len(rivals) + 1
        takes_it = _takes(self._signatures(node.path)[node.symbol], numbers)
        taking = sum(_takes(rival, numbers) for rival in rivals)
        if not takes_it:
            return 0 if taking else len(rivals) + 1
        return taking + 1


def _takes(constructor: Symbol, numbers: set[int]) -> bool:
    """Whether a constructor takes one of these numbers of arguments."""
    declared = parameters(constructor.signature, constructor.name)
    if declared is None:
        return True
    least = sum(parameter.required for parameter in declared)
    open_ended = any(parameter.is_variadic for parameter in declared)
    return any(least <= number and (open_ended or number <= len(declared)) for number in numbers)
