"""Whether those who call what was declared otherwise, or is gone, still fit it as they stand.

The number and the names of a call's arguments are held against the parameters of now. Where those
that it gives have another type, name or order, the text does not prove that it fits: that is
uncertain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from codelens.answers.graph_answers import Fit
from codelens.branches.given_arguments import Given, given_arguments
from codelens.branches.parameters import Parameter, parameter_name, parameters
from codelens.engine.graph.targets import Targets
from codelens.engine.impact.base_commit import Before
from codelens.resolve.edges import Edge
from codelens.resolve.facts.file_model import CALLABLE
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.walk.edge_table import Node
from codelens.types import Reference, Symbol

_WORST_FIRST: tuple[Fit, ...] = ("breaks", "uncertain", "fits")
_LOOSE = frozenset({"javascript", "lua", "vue", "svelte", "html"})
"""Languages that give a function whatever it is called with."""
_TAKES_MORE = frozenset({"php"})
"""Languages in which arguments beyond the last parameter are no error."""


class Redeclared(NamedTuple):
    """A function of the commit and what became of it."""

    old: Node
    new: Node | None
    """None: it is gone."""


class Calls:
    """Judges the calls of functions that were declared otherwise or are gone.

    Args:
        now: the files as they are now.
        then: the graph of the commit.
        come: names that the change defines anew.
    """

    def __init__(self, now: Targets, then: Before, come: Iterable[str]) -> None:
        self._now = now
        self._then = then
        self._come = frozenset(come)
        self._texts: dict[bytes, bytes] = {}

    def fits(self, redeclared: Iterable[Redeclared]) -> Mapping[Node, Fit]:
        """For each user as it stands now the worst that is true of its calls."""
        found: dict[Node, Fit] = {}
        for one in redeclared:
            if not self._is_redeclared(one):
                continue
            for edge in self._then.graph.edges_to(*one.old):
                user = self._then.standing(Node(edge.source, edge.symbol))
                if user is None or edge.kind not in {"call", "ref"}:
                    continue
                fit = self._fit(one, edge, user.path)
                known = found.get(user)
                if known is None or _WORST_FIRST.index(fit) < _WORST_FIRST.index(known):
                    found[user] = fit
        return found

    def _is_redeclared(self, one: Redeclared) -> bool:
        old = self._then.targets.symbols(one.old.path)[one.old.symbol]
        if old.kind not in CALLABLE:
            return False
        if one.new is None:
            return True
        return _declared(old) != _declared(self._now.symbols(one.new.path)[one.new.symbol])

    def _fit(self, one: Redeclared, edge: Edge, path: bytes) -> Fit:
        line = self._then.line(edge.source, edge.line)
        graph = self._now.graph
        if not graph.resolve([path]):
            return "uncertain"
        if one.new is None:
            # What supplies the name now may be what was meant, or not.
            supplied = graph.leads(path, line, edge.name) or edge.name in self._come
            return "uncertain" if supplied else "breaks"
        leads = any(
            told.source == path and told.line == line and told.kind == edge.kind
            for told in graph.table().edges_to(*one.new)
        )
        if not self._then.is_unchanged(edge.source, edge.line):
            return "fits" if leads else "uncertain"
        if edge.kind != "call":
            return "uncertain"
        return self._of_call(one.old, one.new, path, line, edge.name, leads=leads)

    def _of_call(
        self, before: Node, now: Node, path: bytes, line: int, name: str, *, leads: bool
    ) -> Fit:
        old = self._then.targets.symbols(before.path)[before.symbol]
        new = self._now.symbols(now.path)[now.symbol]
        took, takes = parameters(old.signature, old.name), parameters(new.signature, new.name)
        language = self._now.graph.resolved.languages.get(path, "")
        given = self._given(path, line, name, language)
        if took is None or takes is None or given is None:
            return "uncertain"
        if not _takes(takes, given, language, _has_self(new)):
            return "uncertain" if language in _LOOSE else "breaks"
        same = [one.text for one in took[: given.number]] == [
            one.text for one in takes[: given.number]
        ]
        # Where a call chooses between overloads it may mean another one now.
        means_it = leads or not spec_of(language).overloads_apart
        return "fits" if same and means_it else "uncertain"

    def _given(self, path: bytes, line: int, name: str, language: str) -> Given | None:
        """The arguments of the calls of a name in a line; None where they differ."""
        rows = [
            one
            for one in self._now.graph.resolved.references(path)
            if one.line == line and one.name == name and one.kind == "call"
        ]
        told = {self._of_reference(path, one, language) for one in rows}
        return told.pop() if len(told) == 1 else None

    def _of_reference(self, path: bytes, one: Reference, language: str) -> Given | None:
        text = self._text(path)
        start = _line_start(text, one.line)
        if start < 0:
            return None
        end = start + one.column + len(one.name.encode("utf-8", "surrogatepass"))
        found = given_arguments(text, end, language)
        if one.arguments < 0:
            return found
        # The grammar counted: what the text alone may get wrong are the commas.
        return Given(one.arguments, found.names if found is not None else ())

    def _text(self, path: bytes) -> bytes:
        known = self._texts.get(path)
        if known is None:
            view = self._now.view
            file = view.snapshot.by_path.get(path)
            known = self._texts[path] = (view.read(file) if file is not None else None) or b""
        return known


def count_by_fit(fits: Iterable[Fit | None]) -> tuple[tuple[Fit, int], ...]:
    """How often each is true, the worst first."""
    told = list(fits)
    return tuple((one, told.count(one)) for one in _WORST_FIRST if one in told)


def _declared(one: Symbol) -> str:
    return "".join(one.signature.split())


def _takes(wanted: list[Parameter], given: Given, language: str, has_self: bool) -> bool:
    """Whether parameters can take the arguments of a call, by their number and names."""
    least = sum(one.required for one in wanted)
    most = len(wanted)
    if has_self and given.number == most + 1:
        # `Type.method(one, ...)`: the instance is the first argument.
        return True
    names = {parameter_name(one) for one in wanted}
    open_ended = any(one.is_variadic for one in wanted) or language in _TAKES_MORE
    if given.number < least or (given.number > most and not open_ended):
        return False
    return open_ended or language not in _NAMES_ARGUMENTS or names.issuperset(given.names)


_NAMES_ARGUMENTS = frozenset({"python", "kotlin", "csharp", "php"})
"""Languages whose calls name parameters; in others a name and a colon are part of a value."""


def _has_self(one: Symbol) -> bool:
    return "self" in one.signature.partition("(")[2].partition(",")[0].partition(")")[0]


def _line_start(text: bytes, line: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = text.find(b"\n", at) + 1
        if not at:
            return -1
    return at
