"""Whether those who call what was declared otherwise, or is gone, still fit it as they stand.

The number and the names of a call's arguments are held against the parameters of now. Where those
that it gives have another type, name or order, the text does not prove that it fits: that is
uncertain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from codelens.answers.graph_answers import Fit
from codelens.branches.parameters import Parameter, parameter_name, parameters
from codelens.branches.passed_arguments import PassedArguments, passed_arguments
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.targets import Targets
from codelens.engine.impact.base_commit import BaseGraph
from codelens.resolve.edges import Edge
from codelens.resolve.facts.file_model import CALLABLE
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.walk.edge_table import Node
from codelens.types import Reference, Symbol

_WORST_FIRST: tuple[Fit, ...] = ("breaks", "uncertain", "fits")


class Redeclared(NamedTuple):
    """A function of the commit and what became of it."""

    old: Node
    new: Node | None
    """None: it is gone."""


class CallJudge:
    """Judges the calls of functions that were declared otherwise or are gone.

    Args:
        now: the files as they are now.
        base_graph: the graph of the commit.
        added_names: names that the change defines anew.
    """

    def __init__(self, now: Targets, base_graph: BaseGraph, added_names: Iterable[str]) -> None:
        self._now = now
        self._base_graph = base_graph
        self._added_names = frozenset(added_names)
        self._texts: dict[bytes, bytes] = {}

    def fits(self, redeclared: Iterable[Redeclared]) -> Mapping[Node, Fit]:
        """For each user as it stands now the worst that is true of its calls."""
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
        """Whether a function is gone, or its declaration is another one."""
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
            # What supplies the name now may be what was meant, or not.
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
        # Where a call chooses between overloads it may mean another one now.
        means_it = still_means_it or not spec_of(language).overloads_apart
        return "fits" if same_types and means_it else "uncertain"

    def _arguments_at(
        self, path: bytes, line: int, name: str, language: str
    ) -> PassedArguments | None:
        """The arguments of the calls of a name in a line; None where they differ."""
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
        # The grammar counted: what the text alone may get wrong are the commas.
        return PassedArguments(reference.arguments, passed.names if passed is not None else ())

    def _text(self, path: bytes) -> bytes:
        known = self._texts.get(path)
        if known is None:
            view = self._now.view
            file = view.snapshot.by_path.get(path)
            known = self._texts[path] = (view.read(file) if file is not None else None) or b""
        return known


def _edges_to(graph: LazyGraph, node: Node) -> Iterator[Edge]:
    """Edges to a function, wherever it is declared or defined."""
    for place in graph.places(node):
        yield from graph.edges_to(*place)


def count_by_fit(fits: Iterable[Fit | None]) -> tuple[tuple[Fit, int], ...]:
    """How often each is true, the worst first."""
    every_fit = list(fits)
    return tuple((fit, every_fit.count(fit)) for fit in _WORST_FIRST if fit in every_fit)


def _symbol(targets: Targets, node: Node) -> Symbol | None:
    """The definition of a node; None of a file that there was no time to read."""
    symbols = targets.symbols(node.path)
    return symbols[node.symbol] if node.symbol < len(symbols) else None


def _declaration(symbol: Symbol) -> str:
    return "".join(symbol.signature.split())


def _can_take(
    declared: list[Parameter], passed: PassedArguments, language: str, has_self: bool
) -> bool:
    """Whether parameters can take the arguments of a call, by their number and names."""
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
