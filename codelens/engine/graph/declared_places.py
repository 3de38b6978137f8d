"""Finds the other places of one definition, and the calls that run a constructor.

Other places are: declarations of a function in C and C++, overload signatures in Python and
TypeScript before the function that runs, a type and a value of one name in TypeScript, the parts of
a C# class, what other builds use instead in Go, and stub files (`.pyi`, `.d.ts`), which declare
what the code next to them defines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

from codelens.branches.parameters import parameters
from codelens.engine.graph.ownership import Ownership
from codelens.handles.handle_grammar import known_symbols
from codelens.handles.handle_lookup import is_same, may_be_apart
from codelens.resolve.edges import Edge
from codelens.resolve.file_model import CALLABLE, TYPES
from codelens.resolve.graph import Graph
from codelens.resolve.languages.classes.class_types import generics
from codelens.resolve.languages.registry import LanguageSpec, spec_of
from codelens.resolve.walk.edge_table import MODULE, Node, symbols_inside
from codelens.store.facts.resolution_facts import key_of
from codelens.store.views.snapshot import Snapshot
from codelens.types import Symbol

EdgesTo = Callable[[Node], Sequence[Edge]]

_QUALIFIERS = re.compile(r"\b(?:const|volatile|struct|class|enum|typename|register)\b|\w+::")
_SIGNS = re.compile(r"[*&<>,\[\]()]")
_BUILT_IN = frozenset("int char short long float double bool unsigned signed void auto".split())
_PARTIAL = re.compile(r"\bpartial\b")
_VARIABLES = frozenset({"variable", "constant"})
_REPEATED = frozenset({"main", "init", "_"})
"""Names that every file of a package may define."""
_NEVER = re.compile(r"(?<![!\w])ignore\b")
_FIRST_ROWS = 4
"""The constraints of a file are among its first rows."""
_MOST_PLACES = 20
"""A name with more places belongs to many functions."""


class DeclaredPlaces:
    """Finds the other places of definitions in one state of a view.

    The database must be in a read transaction.
    """

    def __init__(self, snapshot: Snapshot, graph: Graph) -> None:
        self._snapshot = snapshot
        self._graph = graph
        self._places_by_node: dict[Node, Sequence[Node]] = {}

    def others(self, node: Node) -> Sequence[Node]:
        """The other declarations and definitions of a C or C++ function, in order.

        With files for single platforms: what replaces the definition in another build.
        """
        places = self._places_by_node.get(node)
        if places is None and self._spec(node).platform_file:
            places = self._places_by_node[node] = self._other_builds(node)
        if places is None:
            own = self._graph.symbols(node.path)[node.symbol : node.symbol + 1]
            is_open = any(symbol.exported for symbol in own)
            places = self._places_by_node[node] = [
                other
                for other, symbol in self._apart(node).items()
                if (is_open and symbol.exported) or other.path == node.path
            ]
        return places

    def alternatives(self, node: Node) -> Iterable[Node]:
        """Other definitions of the same name; the build decides which one a use means.

        They are in the same scope; in C, a static function may also replace one of a header.
        """
        spec = self._spec(node)
        if spec.prototypes:
            return self._apart(node)
        if spec.overloads or not spec.overloads_apart:
            return self.others(node)
        namesakes = self._graph.namesakes(*node)
        return [Node(node.path, at) for at in namesakes if at != node.symbol]

    def same(self, node: Node) -> list[Node]:
        """All places of a node's definition; for overloads, the body comes first."""
        merged = self._merged(node) or [node]
        stubs = [stub for place in merged for stub in self._in_stubs(place)]
        body = self.body_of(node)
        return list(dict.fromkeys([body, *merged, *stubs, *self.others(node)]))

    def body_of(self, node: Node) -> Node:
        """The overload that runs, at which edges to any of the overloads end."""
        overloads = self.overloads(node)
        return overloads[-1] if overloads else node

    def overloads(self, node: Node) -> Sequence[Node]:
        """The signatures of an overloaded function, then its body; empty for other definitions."""
        if not self._spec(node).overload_declarations:
            return ()
        same = self._graph.namesakes(*node)
        symbols = self._graph.symbols(node.path)
        if len(same) < 2 or any(symbols[at].kind not in CALLABLE for at in same):
            return ()
        return [Node(node.path, at) for at in same]

    def _merged(self, node: Node) -> Sequence[Node]:
        """A type and a value with the same name, which are imported and renamed together.

        Without separate names for types: a function or type and the variable that replaces it.
        """
        spec = self._spec(node)
        if spec.split_types:
            return self._parts(node)
        if not spec.spaces:
            return self.overloads(node) or (self._rebound(node) if spec.rebinds else ())
        return [Node(node.path, at) for at in self._graph.namesakes(*node)]

    def _parts(self, node: Node) -> Sequence[Node]:
        """The parts of a type that is declared in several (C#)."""
        symbols = self._graph.symbols(node.path)
        own = symbols[node.symbol]
        model = self._graph.model(node.path)
        if own.kind not in TYPES or model is None:
            return ()
        parts: list[Node] = []
        for file, at, symbol in self._snapshot.symbols_with_key(key_of(own.name)):
            if symbol.qualified != own.qualified or not _PARTIAL.search(symbol.signature):
                continue
            other = self._graph.model(file.path)
            if (
                other is not None
                and other.language == model.language
                and other.package == model.package
                and generics(symbol.signature, own.name) == generics(own.signature, own.name)
            ):
                parts.append(Node(file.path, at))
        return parts if node in parts else ()

    def _rebound(self, node: Node) -> Sequence[Node]:
        """The definitions of a name of which some are variables: `R = wrap(R)` after `def R`."""
        same = self._graph.namesakes(*node)
        symbols = self._graph.symbols(node.path)
        kinds = {symbols[at].kind for at in same}
        if not kinds & _VARIABLES or not kinds & (CALLABLE | TYPES):
            return ()
        return [Node(node.path, at) for at in same]

    def _other_builds(self, node: Node) -> Sequence[Node]:
        """The definitions of the same name in files of the package that other builds use."""
        symbols, model = self._graph.symbols(node.path), self._graph.model(node.path)
        if not 0 <= node.symbol < len(symbols) or model is None:
            return ()
        own, is_limited = symbols[node.symbol], self._is_limited(node.path)
        if is_limited is None or own.name in _REPEATED or _is_local(symbols, own):
            return ()
        others: list[Node] = []
        folder = node.path.rpartition(b"/")[0]
        for file, at, symbol in self._snapshot.symbols_with_key(key_of(own.name)):
            if symbol.qualified != own.qualified or file.path == node.path:
                continue
            if file.path.rpartition(b"/")[0] != folder:
                continue
            other, is_other_limited = self._graph.model(file.path), self._is_limited(file.path)
            if (
                other is not None
                and is_other_limited is not None
                and (is_limited or is_other_limited)
                and (other.language, other.package) == (model.language, model.package)
                and not _is_local(self._graph.symbols(file.path), symbol)
            ):
                others.append(Node(file.path, at))
        return sorted(others) if len(others) <= _MOST_PLACES else ()

    def _is_limited(self, path: bytes) -> bool | None:
        """Whether only some builds have a file; None if a build never has it."""
        model = self._graph.model(path)
        rows = model.bindings[:_FIRST_ROWS] if model is not None else ()
        constraints = [row.text for row in rows if row.how == "built"]
        if any(_NEVER.search(constraint) for constraint in constraints):
            return None
        pattern = spec_of(self._graph.languages.get(path, "")).platform_file
        return bool(constraints or (pattern and re.search(pattern, path)))

    def _spec(self, node: Node) -> LanguageSpec:
        return spec_of(self._graph.languages.get(node.path, ""))

    def _in_declarations(self, node: Node) -> Iterator[Node]:
        """The same name in the declarations of its package (`types`), or what these declare."""
        name = self._graph.symbols(node.path)[node.symbol].qualified
        head = name.partition(".")[0] if self._spec(node).spaces else ""
        for types, code in self._graph.importer.declared.items() if head else ():
            files = {referent.path for referent in self._graph.imported_as(code, head)} or {code}
            for twin in {types: files, **{file: {types} for file in files}}.get(node.path, ()):
                named = enumerate(self._graph.symbols(twin))
                yield from (Node(twin, at) for at, symbol in named if symbol.qualified == name)

    def _in_stubs(self, node: Node) -> Iterator[Node]:
        """The same name in the stub next to a source file, or in the source next to a stub."""
        symbols = self._graph.symbols(node.path)
        if not 0 <= node.symbol < len(symbols):
            return
        yield from self._in_declarations(node)
        name = symbols[node.symbol].qualified
        for stub, code in self._spec(node).stubs:
            pairs = [(stub, ending) for ending in code] + [(ending, stub) for ending in code]
            for ending, other in pairs:
                twin = node.path.removesuffix(ending) + other
                if not node.path.endswith(ending) or twin not in self._graph.languages:
                    continue
                named = enumerate(self._graph.symbols(twin))
                yield from (Node(twin, at) for at, symbol in named if symbol.qualified == name)

    def _apart(self, node: Node) -> dict[Node, Symbol]:
        """C or C++ functions of the same name and parameters, static ones included.

        In C, and for the only other function of a name in C++, the number of parameters decides:
        a declaration may name another type than the definition.
        """
        symbols = self._graph.symbols(node.path)
        if not 0 <= node.symbol < len(symbols):
            return {}
        language = self._graph.languages.get(node.path, "")
        if not may_be_apart(symbols[node.symbol], language):
            return {}
        name = symbols[node.symbol].qualified
        named = {
            Node(file.path, at): symbol
            for file, at, symbol in self._snapshot.symbols_with_key(
                key_of(symbols[node.symbol].name)
            )
            if symbol.qualified == name
        }
        own = named.pop(node, None)
        if own is None or len(named) > _MOST_PLACES:
            return {}
        same = {
            other: symbol
            for other, symbol in named.items()
            if is_same(symbol, own)
            and may_be_apart(symbol, self._graph.languages.get(other.path, ""))
        }
        if not self._spec(node).overloads:
            return same
        types = _types(own)
        is_only = len(same) == 1 and all(other.path != node.path for other in same)
        return {
            other: symbol for other, symbol in same.items() if is_only or _types(symbol) == types
        }


def _types(function: Symbol) -> list[str] | None:
    """The types of the parameters of a C++ function, without qualifiers and names."""
    declared = parameters(function.signature, function.name)
    return None if declared is None else [_type(parameter.text) for parameter in declared]


def _type(parameter: str) -> str:
    text = _QUALIFIERS.sub(" ", parameter.partition("=")[0])
    words = _SIGNS.sub(r" \g<0> ", text).split()
    # A declaration may leave the name of a parameter out.
    is_named = len(words) > 1 and words[-1].isidentifier() and words[-1] not in _BUILT_IN
    return " ".join(words[:-1] if is_named else words)


# Calls of a type, reported as calls of the constructor that they run.
#
# An edge of a use that creates an instance ends at the type. The callers of a constructor are the
# callers of its type, and of subtypes without their own constructor. If a type has several
# constructors, the number of arguments selects one; a call that fits several is a possible edge.

_MOST_TYPES = 200
"""Maximum number of subtypes of a type."""
_UNKNOWN = -1


class ConstructorCalls:
    """Finds the calls that run constructors, in one state of a view.

    The database must be in a read transaction.

    Args:
        snapshot: the view.
        graph: its graph.
    """

    def __init__(self, snapshot: Snapshot, graph: Graph) -> None:
        self._snapshot = snapshot
        self._graph = graph
        self._ownership = Ownership(snapshot, graph)
        self._signed: dict[bytes, Sequence[Symbol]] = {}

    def of(self, node: Node, edges_to: EdgesTo) -> list[Edge]:
        """Calls that run a constructor, or may run it; empty for other definitions.

        Args:
            node: the constructor.
            edges_to: returns the edges that end at a definition, resolved as time allows.
        """
        owner = self._type_built_by(node)
        if owner is None:
            return []
        rivals = self._rivals(node, owner)
        edges: list[Edge] = []
        for edge in self._calls(owner, edges_to):
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

    def _calls(self, owner: Node, edges_to: EdgesTo) -> Iterator[Edge]:
        """Calls of a type, and of the subtypes that its constructor builds."""
        pending, seen = [owner], {owner}
        while pending:
            for edge in edges_to(pending.pop()):
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
        """The other constructors of the type, including one declared by the type's own line."""
        spec = spec_of(self._graph.languages.get(node.path, ""))
        if not spec.overloads:
            return []
        symbols = self._signatures(owner.path)
        type_ = symbols[owner.symbol]
        rivals = [symbols[at] for at in self._constructors(owner) if Node(owner.path, at) != node]
        if node.path != owner.path or node.symbol not in self._constructors(owner):
            # It is defined outside of the type; its declaration in the type is the same
            # constructor.
            own = self._parameters(self._signatures(node.path)[node.symbol])
            rivals = [rival for rival in rivals if self._parameters(rival) != own]
        if parameters(type_.signature, type_.name) is not None:
            rivals.append(type_)
        return rivals

    def _parameters(self, constructor: Symbol) -> list[str]:
        declared = parameters(constructor.signature, constructor.name) or []
        return [parameter.text.partition("=")[0].strip() for parameter in declared]

    def _signatures(self, path: bytes) -> Sequence[Symbol]:
        signatures = self._signed.get(path)
        if signatures is None:
            file = self._snapshot.by_path.get(path)
            signatures = known_symbols(self._snapshot, file) if file is not None else ()
            self._signed[path] = signatures
        return signatures

    def _choices(self, edge: Edge, node: Node, rivals: Sequence[Symbol]) -> int:
        """How many constructors a call may run, including this one; 0 if it cannot run this one."""
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
    """Whether a constructor accepts one of these numbers of arguments."""
    declared = parameters(constructor.signature, constructor.name)
    if declared is None:
        return True
    least = sum(parameter.required for parameter in declared)
    open_ended = any(parameter.is_variadic for parameter in declared)
    return any(least <= number and (open_ended or number <= len(declared)) for number in numbers)


NO_CODE = frozenset({"heading", "key"})
"""Kinds of symbols that are not definitions of code."""


class Enclosing:
    """The innermost definition of code around each line of a file."""

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self._symbols = symbols
        self._order = [at for at, symbol in enumerate(symbols) if symbol.kind not in NO_CODE]
        self._starts = [symbols[at].start_line for at in self._order]

    def of(self, line: int) -> int:
        """Position of the innermost definition; `MODULE` outside of all."""
        at = bisect_right(self._starts, line) - 1
        inner = self._order[at] if at >= 0 else MODULE
        while inner != MODULE and (
            self._symbols[inner].end_line < line or self._symbols[inner].kind in NO_CODE
        ):
            inner = self._symbols[inner].parent
        return inner


def _is_local(symbols: Sequence[Symbol], symbol: Symbol) -> bool:
    """Whether a definition is inside a function."""
    while symbol.parent >= 0:
        symbol = symbols[symbol.parent]
        if symbol.kind in CALLABLE:
            return True
    return False
