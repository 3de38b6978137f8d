"""Finds the methods that override a method, or that it overrides: a rename must change them all.

The same holds for fields where an object has only one of a name, as in Python. This family includes
the methods of sibling types. It excludes a method of the same name that hides the other instead of
overriding it (`private`, `static`, a missing `override`), and other overloads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set

from codelens.branches.parameters import parameters
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.targets import Targets
from codelens.resolve.languages.registry import LanguageSpec, spec_of
from codelens.resolve.walk.edge_table import Node
from codelens.resolve.walk.relation_walk import OVERRIDING, overridden_by, overrides
from codelens.types import Symbol

_MOST = 1_000
"""Maximum number of methods of a family."""
_MEMBERS = OVERRIDING | {"field"}
_CONTRACTS = frozenset({"interface", "trait"})
_WORD = re.compile(r"\w+")
_TYPE_PARAMETER = re.compile(r"\b[A-Z][A-Z0-9]?\b|\bT[A-Z]\w*")
_NO_TYPE = re.compile(r"@\w+(?:\([^()]*\))?|\b(?:final|const|in|out|ref|params|vararg|this)\b")
_TYPE_ARGUMENTS = re.compile(r"<[^<>]*>")


class MethodFamily:
    """Finds the families of methods in one state of a view.

    The database must be in a read transaction.
    """

    def __init__(self, graph: LazyGraph, targets: Targets) -> None:
        self._graph = graph
        self._targets = targets

    def of(self, nodes: Iterable[Node]) -> dict[Node, str]:
        """The other members of the families of some methods, each with its relation to them."""
        own = list(dict.fromkeys(nodes))
        family: dict[Node, str] = {}
        pending = [(node, "") for node in own]
        while pending and len(family) < _MOST:
            node, relation = pending.pop(0)
            for method, step in self._next(node):
                if method in family or method in own:
                    continue
                # A method more than one step away is related through the one that both override.
                family[method] = step if relation in {"", step} else "overrides the same method"
                pending.append((method, family[method]))
        return family

    def _next(self, node: Node) -> Iterator[tuple[Node, str]]:
        for method in self._overloads(node, overrides):
            if self._is_overriding(node, method):
                yield from ((place, "is overridden by it") for place in self._graph.same(method))
        for method in self._overloads(node, overridden_by):
            if self._is_overriding(method, node):
                yield from ((place, "overrides it") for place in self._graph.same(method))

    def _overloads(
        self, node: Node, step: Callable[[LazyGraph, Node, Set[str]], list[Node]]
    ) -> Iterator[Node]:
        """The methods of the next types that have the name and parameters of a method."""
        kinds = _MEMBERS if self._spec(node).fields_are_inherited else OVERRIDING
        pending, seen = step(self._graph, node, kinds), set[Node]()
        while pending and len(seen) < _MOST:
            method = pending.pop(0)
            if method in seen:
                continue
            seen.add(method)
            chosen = self._overload(method, node)
            if chosen is None:
                pending += step(self._graph, method, kinds)
            else:
                yield chosen

    def _is_overriding(self, below: Node, above: Node) -> bool:
        """Whether a method overrides one of a base, and does not only hide it."""
        spec = self._spec(below)
        name = self._symbol(below).name
        if name.startswith("#") or (name.startswith("__") and not name.endswith("__")):
            return False
        words = [self._words(node) for node in (below, above)]
        if any(spec.hiding_words & each for each in words):
            return False
        return (
            not spec.overriding_words
            or bool(spec.overriding_words & (words[0] | words[1]))
            or self._owner_kind(above) in _CONTRACTS
        )

    def _words(self, node: Node) -> set[str]:
        return set(_WORD.findall(self._symbol(node).signature))

    def _owner_kind(self, node: Node) -> str:
        symbols = self._targets.symbols(node.path)
        parent = symbols[node.symbol].parent
        return symbols[parent].kind if parent >= 0 else ""

    def _overload(self, method: Node, like: Node) -> Node | None:
        """The overload of a method that has the parameters of another method."""
        if not self._spec(method).overloads:
            return method
        expected = self._types(like)
        rivals = [self._types(node) for node in self._namesakes(like) if node != like]
        candidates = [(node, self._types(node)) for node in self._namesakes(method)]
        fitting = [
            node
            for node, types in candidates
            if types == expected or (types not in rivals and self._fits(types, expected))
        ]
        exact = [node for node, types in candidates if types == expected]
        return next(iter(exact or fitting), None)

    def _namesakes(self, node: Node) -> list[Node]:
        return [Node(node.path, at) for at in self._graph.resolved.namesakes(*node)]

    def _fits(self, types: Sequence[str] | None, others: Sequence[str] | None) -> bool:
        if types is None or others is None:
            return types is others
        return all(
            type_text == other or _TYPE_PARAMETER.search(f"{type_text} {other}")
            for type_text, other in zip(types, others, strict=False)
        ) and len(types) == len(others)

    def _types(self, node: Node) -> list[str] | None:
        """The types of a method's parameters, without type arguments; None without parameters."""
        symbol = self._symbol(node)
        declared = parameters(symbol.signature, symbol.name)
        if declared is None:
            return None
        return [self._type(node, parameter.text) for parameter in declared]

    def _type(self, node: Node, text: str) -> str:
        text, before = _NO_TYPE.sub(" ", text.partition("=")[0]), ""
        while text != before:
            before, text = text, _TYPE_ARGUMENTS.sub("", text)
        name, colon, type_text = text.partition(":")
        if not (colon and name.strip().isidentifier()):
            words = text.replace("*", " * ").replace("&", " & ").split()
            # A declaration of C++ may leave the name of a parameter out.
            named = len(words) > 1 and words[-1].isidentifier()
            type_text = " ".join(words[:-1] if named else words)
        return type_text.rpartition(".")[2].strip()

    def _symbol(self, node: Node) -> Symbol:
        return self._targets.symbols(node.path)[node.symbol]

    def _spec(self, node: Node) -> LanguageSpec:
        return spec_of(self._graph.resolved.languages.get(node.path, ""))
