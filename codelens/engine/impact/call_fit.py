"""Judges which uses a changed declaration breaks: overriding methods, calls, users at the commit.

For a diff, the commit's graph shows which declarations changed; for a plain target it is unknown
how it will change, so every method of an interface counts as changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from codelens.answers.graph_answers import Fit
from codelens.branches.parameters import (
    Parameter,
    PassedArguments,
    parameter_name,
    parameters,
    passed_arguments,
)
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.targets import Targets
from codelens.resolve.edges import Edge
from codelens.resolve.file_model import CALLABLE, TYPES
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.resolve.walk.reach import Reached, changed_file, changed_symbol, reach
from codelens.scope.text_diff import LineChange, changed_lines, new_line
from codelens.types import Reference, Symbol

_PROMISES = frozenset({"interface", "trait"})
"""Kinds of types that exist to be implemented."""
_METHODS = frozenset({"method", "function"})


def promised(graph: LazyGraph, nodes: Iterable[Node]) -> dict[Node, list[Node]]:
    """The methods of interfaces and traits among the nodes, as `contracts_of` returns them."""
    methods = [node for node in nodes if _owner_kind(graph, node) in _PROMISES]
    return contracts_of(graph, methods)


def contracts_of(graph: LazyGraph, nodes: Iterable[Node]) -> dict[Node, list[Node]]:
    """The methods of types among the nodes, each with the methods that `called_as` returns."""
    return {node: called_as(graph, node) for node in nodes if _owner_kind(graph, node) in TYPES}


def _owner_kind(graph: LazyGraph, node: Node) -> str:
    symbols = graph.symbols(node.path)
    if not 0 <= node.symbol < len(symbols) or symbols[node.symbol].kind not in _METHODS:
        return ""
    owner = symbols[node.symbol].parent
    return symbols[owner].kind if owner >= 0 else ""


def called_as(graph: LazyGraph, node: Node) -> list[Node]:
    """The implementations of a Rust trait method: a call of one counts as a call of the method."""
    language = graph.resolved.languages.get(node.path, "")
    if not spec_of(language).trait_blocks:
        return []
    return [
        Node(edge.source, edge.symbol) for edge in graph.edges_to(*node) if edge.kind == "override"
    ]


# Judges whether existing calls still fit a function that was redeclared or deleted.
#
# The number and names of a call's arguments are compared with the current parameters. If the
# parameters that a call fills changed their type, name or order, the text cannot prove that the
# call fits: the result is uncertain.

_WORST_FIRST: tuple[Fit, ...] = ("breaks", "uncertain", "fits")


class Redeclared(NamedTuple):
    """A function at the commit, and its current node."""

    old: Node
    new: Node | None
    """None: it was deleted."""


class CallJudge:
    """Judges the calls of functions that were redeclared or deleted.

    Args:
        now: the current files.
        base_graph: the graph of the commit.
        added_names: names that the change newly defines.
    """

    def __init__(self, now: Targets, base_graph: BaseGraph, added_names: Iterable[str]) -> None:
        self._now = now
        self._base_graph = base_graph
        self._added_names = frozenset(added_names)
        self._texts: dict[bytes, bytes] = {}

    def fits(self, redeclared: Iterable[Redeclared]) -> Mapping[Node, Fit]:
        """The worst result of the calls of each current user."""
        fit_by_user: dict[Node, Fit] = {}
        for redeclared_function in redeclared:
            if not self.is_redeclared(redeclared_function):
                continue
            for edge in _edges_to(self._base_graph.graph, redeclared_function.old):
                user = self._base_graph.standing(Node(edge.source, edge.symbol))
                if user is None or edge.kind not in {"call", "ref"}:
                    continue
                fit = self._fit(redeclared_function, edge, user.path)
                known_fit = fit_by_user.get(user)
                if known_fit is None or _WORST_FIRST.index(fit) < _WORST_FIRST.index(known_fit):
                    fit_by_user[user] = fit
        return fit_by_user

    def is_redeclared(self, redeclared: Redeclared) -> bool:
        """Whether a function was deleted, or its declaration changed."""
        old = _symbol(self._base_graph.targets, redeclared.old)
        if old is None or old.kind not in CALLABLE:
            return False
        if redeclared.new is None:
            return True
        new = _symbol(self._now, redeclared.new)
        return new is not None and _declaration(old) != _declaration(new)

    def _fit(self, redeclared: Redeclared, edge: Edge, path: bytes) -> Fit:
        line = self._base_graph.line(edge.source, edge.line)
        graph = self._now.graph
        if not graph.resolve([path]):
            return "uncertain"
        if redeclared.new is None:
            # The name now leads to another definition, which may be a replacement or a coincidence.
            supplied = graph.leads(path, line, edge.name) or edge.name in self._added_names
            return "uncertain" if supplied else "breaks"
        still_means_it = any(
            new_edge.source == path and new_edge.line == line and new_edge.kind == edge.kind
            for new_edge in _edges_to(graph, redeclared.new)
        )
        if not self._base_graph.is_unchanged(edge.source, edge.line):
            return "fits" if still_means_it else "uncertain"
        if edge.kind != "call":
            return "uncertain"
        return self._fit_of_call(
            redeclared.old, redeclared.new, path, line, edge.name, still_means_it=still_means_it
        )

    def _fit_of_call(
        self, before: Node, now: Node, path: bytes, line: int, name: str, *, still_means_it: bool
    ) -> Fit:
        old = self._base_graph.targets.symbols(before.path)[before.symbol]
        new = self._now.symbols(now.path)[now.symbol]
        old_parameters, new_parameters = (
            parameters(old.signature, old.name),
            parameters(new.signature, new.name),
        )
        language = self._now.graph.resolved.languages.get(path, "")
        passed = self._arguments_at(path, line, name, language)
        if old_parameters is None or new_parameters is None or passed is None:
            return "uncertain"
        if not _can_take(new_parameters, passed, language, _has_self(new)):
            return "uncertain" if spec_of(language).any_arguments else "breaks"
        same_types = [parameter.text for parameter in old_parameters[: passed.number]] == [
            parameter.text for parameter in new_parameters[: passed.number]
        ]
        # A call that chooses between overloads may mean another one now.
        means_it = still_means_it or not spec_of(language).overloads_apart
        return "fits" if same_types and means_it else "uncertain"

    def _arguments_at(
        self, path: bytes, line: int, name: str, language: str
    ) -> PassedArguments | None:
        """The arguments of the calls of a name in a line; None if they differ."""
        calls = [
            reference
            for reference in self._now.graph.resolved.references(path)
            if reference.line == line and reference.name == name and reference.kind == "call"
        ]
        arguments_of_calls = {self._arguments_of(path, reference, language) for reference in calls}
        return arguments_of_calls.pop() if len(arguments_of_calls) == 1 else None

    def _arguments_of(
        self, path: bytes, reference: Reference, language: str
    ) -> PassedArguments | None:
        text = self._text(path)
        start = _line_start(text, reference.line)
        if start < 0:
            return None
        end = start + reference.column + len(reference.name.encode("utf-8", "surrogatepass"))
        passed = passed_arguments(text, end, language)
        if reference.arguments < 0:
            return passed
        # The grammar counted the arguments: text alone may misread commas.
        return PassedArguments(reference.arguments, passed.names if passed is not None else ())

    def _text(self, path: bytes) -> bytes:
        text = self._texts.get(path)
        if text is None:
            view = self._now.view
            text = self._texts[path] = view.read_path(path) or b""
        return text


def _edges_to(graph: LazyGraph, node: Node) -> Iterator[Edge]:
    """Edges to a function, at any place where it is declared or defined."""
    for place in graph.places(node):
        yield from graph.edges_to(*place)


def count_by_fit(fits: Iterable[Fit | None]) -> tuple[tuple[Fit, int], ...]:
    """The number of uses for each result, the worst first."""
    every_fit = list(fits)
    return tuple((fit, every_fit.count(fit)) for fit in _WORST_FIRST if fit in every_fit)


def _symbol(targets: Targets, node: Node) -> Symbol | None:
    """The definition of a node; None if there was no time to read its file."""
    symbols = targets.symbols(node.path)
    return symbols[node.symbol] if node.symbol < len(symbols) else None


def _declaration(symbol: Symbol) -> str:
    return "".join(symbol.signature.split())


def _can_take(
    declared: list[Parameter], passed: PassedArguments, language: str, has_self: bool
) -> bool:
    """Whether parameters accept the arguments of a call, by number and names."""
    least = sum(parameter.required for parameter in declared)
    most = len(declared)
    if has_self and passed.number == most + 1:
        # `Type.method(one, ...)`: the instance is the first argument.
        return True
    names = {parameter_name(parameter) for parameter in declared}
    spec = spec_of(language)
    open_ended = spec.extra_arguments or any(parameter.is_variadic for parameter in declared)
    if passed.number < least or (passed.number > most and not open_ended):
        return False
    return open_ended or not spec.named_arguments or names.issuperset(passed.names)


def _has_self(symbol: Symbol) -> bool:
    return "self" in symbol.signature.partition("(")[2].partition(",")[0].partition(")")[0]


def _line_start(text: bytes, line: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = text.find(b"\n", at) + 1
        if not at:
            return -1
    return at


# Finds the users of what a change deletes or redeclares, in the graph of the commit.
#
# The graph of the current files has no edge to a deleted definition, to the former path of a file,
# or from a call that no longer fits. So callers, importers and tests are those of the commit that
# still exist; only files that contain the name are resolved there.


class BaseNode(NamedTuple):
    """A definition or file of the commit that was changed or deleted."""

    path: bytes
    """The path at the commit."""
    symbol: int | None
    """Position; None for the file with everything in it."""


class BaseUsers(NamedTuple):
    """The users at the commit, as current nodes."""

    users: tuple[Reached, ...]
    via: Mapping[Node, str]
    """The handle of what each user used; at the commit, if that was deleted."""
    fits: Mapping[Node, Fit]
    """Whether the calls of a redeclared or deleted function still fit, by caller."""
    cut: bool
    """Whether there are more than could be followed."""


class BaseGraph:
    """The commit's graph, with a mapping to the current files.

    Args:
        base: a view of the commit; in the same read transaction as `now`.
        now: names of the current nodes.
        moves: old and new paths of files that only moved.
        new_positions: for changed files, by path: old position of a definition -> new position.
        seconds: time limit for resolving files.
    """

    def __init__(
        self, base: CurrentView, now: Targets, moves: Mapping[bytes, bytes],
        new_positions: Mapping[bytes, Mapping[int, int]], seconds: float,
    ) -> None:  # fmt: skip
        self._base = base
        self._now = now
        self._moves = moves
        self._new_positions = new_positions
        self.graph = LazyGraph(base, seconds)
        # Files that the change does not affect have the same edges as now.
        self.graph.trust(now.graph)
        self.targets = Targets(base, self.graph)
        self._hunks: dict[bytes, Sequence[LineChange]] = {}

    def nodes(self, base_nodes: Iterable[BaseNode]) -> list[Node]:
        """The nodes of definitions and files of the commit."""
        graph_nodes: dict[Node, None] = {}
        for base_node in base_nodes:
            if base_node.symbol is None:
                graph_nodes.update(dict.fromkeys(changed_file(self.graph, base_node.path)))
            elif base_node.symbol < len(self.graph.symbols(base_node.path)):
                node = self.graph.body_of(Node(base_node.path, base_node.symbol))
                is_gone = self.standing(node) is None
                # An unchanged type is found by its name; its changed members are separate nodes.
                changed_nodes = changed_symbol(self.graph, node) if is_gone else [node]
                graph_nodes.update(dict.fromkeys(changed_nodes))
        return list(graph_nodes)

    def hit(
        self, nodes: Sequence[Node], depth: int, contracts: Mapping[Node, Sequence[Node]]
    ) -> BaseUsers:
        """Current nodes that used these nodes at the commit, directly or indirectly.

        For `contracts`, whose declarations changed, overriding methods pass the change on.
        """
        reached = reach(self.graph, nodes, depth, contracts)
        self.targets.fetch(
            [user.node for user in reached.users] + [user.via for user in reached.users]
        )
        current_nodes = {user.node: self.standing(user.node) for user in reached.users}
        self._now.fetch([node for node in current_nodes.values() if node is not None])
        users: list[Reached] = []
        via: dict[Node, str] = {}
        for user in reached.users:
            node = current_nodes[user.node]
            if node is None or node in via:
                continue
            via_node = current_nodes.get(user.via)
            via[node] = (
                self._now.handle(via_node)
                if via_node is not None
                else self.targets.handle(user.via)
            )
            lines = tuple(self.line(user.node.path, line) for line in user.lines)
            users.append(user._replace(node=node, lines=lines))
        return BaseUsers(tuple(users), via, {}, reached.cut)

    def standing(self, node: Node) -> Node | None:
        """The current node of a node of the commit; None if it was deleted."""
        path = self._moves.get(node.path, node.path)
        if path not in self._now.view.snapshot.by_path:
            return None
        if node.symbol == MODULE:
            return Node(path, MODULE)
        positions = self._new_positions.get(node.path)
        if positions is not None:
            return Node(path, positions[node.symbol]) if node.symbol in positions else None
        before, now = self.targets.symbols(node.path), self._now.symbols(path)
        if node.symbol >= len(before):
            return None
        old_numbers = _positions_of(before, before[node.symbol].qualified)
        new_numbers = _positions_of(now, before[node.symbol].qualified)
        number = old_numbers.index(node.symbol)
        return Node(path, new_numbers[number]) if number < len(new_numbers) else None

    def line(self, path: bytes, line: int) -> int:
        """The current number of a line of the commit; its old number if it was deleted."""
        unchanged, place = new_line(self._changed(path), line)
        return place if unchanged else max(place, 1)

    def is_unchanged(self, path: bytes, line: int) -> bool:
        """Whether a line of the commit still exists unchanged."""
        return new_line(self._changed(path), line)[0]

    def _changed(self, path: bytes) -> Sequence[LineChange]:
        hunks = self._hunks.get(path)
        if hunks is None:
            hunks = self._hunks[path] = self._compared(path)
        return hunks

    def _compared(self, path: bytes) -> Sequence[LineChange]:
        old = self._base.snapshot.by_path.get(path)
        now = self._now.view
        new = now.snapshot.by_path.get(self._moves.get(path, path))
        if old is None or new is None or old.content == new.content:
            return ()
        return changed_lines(self._base.read(old) or b"", now.read(new) or b"")


def _positions_of(symbols: Sequence[Symbol], qualified: str) -> list[int]:
    return [at for at, symbol in enumerate(symbols) if symbol.qualified == qualified]
