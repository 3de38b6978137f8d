"""Every line that uses a definition or file: certain ones, and those that may use it; in pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import quote_from_bytes, unquote_to_bytes

from codelens.answers.graph_answers import Reference, ReferencesAnswer
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.possible_uses import OF_FAMILY, PossibleSite
from codelens.engine.graph.related_query import possible_of, target_of
from codelens.engine.graph.targets import Targets
from codelens.errors import InvalidArgument
from codelens.paths import printed
from codelens.plurals import count_of
from codelens.resolve.walk.edge_table import Node
from codelens.resolve.walk.relation_walk import Target, overridden_by, overrides

_CODE, _TESTS, _POSSIBLE = 0, 1, 2
"""Sections of the answer; what is possible comes by its rank after `_POSSIBLE`."""
_LINE_SHOWN = 400
_FAMILY = 200
"""Methods of one name in related types whose uses are listed as possible."""


class _Position(NamedTuple):
    """Where a line stands in the whole answer: it stays when another file changes."""

    section: int
    path: bytes
    line: int

    def cursor(self) -> str:
        return f"{self.section}:{self.line}:{quote_from_bytes(self.path)}"


class _Line(NamedTuple):
    node: Node
    """The innermost definition that the uses of the line come from."""
    kinds: tuple[str, ...]
    site: PossibleSite | None
    """Set for a line that is only possible."""
    through: str = ""
    """The variable that the line names, where it is another name of the target."""


def references(
    view: CurrentView, target: str, *, limit: int, cursor: str, seconds: float
) -> ReferencesAnswer:
    """Every line that uses `target`, `limit` of them from `cursor` on.

    Raises:
        InvalidArgument: `cursor` is none that an answer gave.
        HandleError: `target` cannot be followed.
    """
    after = _position(cursor) if cursor else None
    graph = LazyGraph(view, seconds)
    targets = Targets(view, graph)
    named = targets.find(target)
    start = target_of(targets, named)
    graph.prepare(start.nodes)
    lines = _certain(graph, start)
    possible = possible_of(view, targets, named, start)
    listed = {(position.path, position.line) for position in lines}
    for site in sorted([*possible.sites, *_of_family(graph, targets, start)]):
        place = (site.path, site.line)
        if place not in listed:
            listed.add(place)
            lines[_Position(_POSSIBLE + site.rank, *place)] = _Line(site.node, (), site)
    order = sorted(lines)
    begin = sum(1 for position in order if position <= after) if after is not None else 0
    page = order[begin : begin + limit]
    left = len(order) - begin - len(page)
    targets.fetch([lines[position].node for position in page])
    notes = [named.moved] if named.moved else []
    if possible.hidden.left:
        names = count_of(possible.hidden.left, "more name")
        notes.append(
            f"at least: unresolved uses of {names} of the target were "
            "not looked up; ask about a part of it"
        )
    notes += [*possible.text_notes, *possible.unseen_notes]
    return ReferencesAnswer(
        receipt=graph.receipt(),
        target=named.node,
        places=() if named.whole else tuple(targets.node(node) for node in named.nodes),
        references=tuple(_reference(targets, position, lines[position]) for position in page),
        certain=sum(position.section < _POSSIBLE for position in order),
        in_tests=sum(position.section == _TESTS for position in order),
        possible=sum(position.section >= _POSSIBLE for position in order),
        files=len({position.path for position in order}),
        left=left,
        cursor=page[-1].cursor() if left and page else "",
        notes=tuple(notes),
    )


def _certain(graph: LazyGraph, start: Target) -> dict[_Position, _Line]:
    """The lines from which edges lead to the target; of a file those outside of it.

    Then those to variables that are another name of it, `g = f`.
    """
    lines: dict[_Position, _Line] = {}
    pending = list(start.nodes)
    names: dict[Node, str] = {}
    while pending:
        node = pending.pop(0)
        through = names.get(node, "")
        for edge in graph.edges_to(*node):
            source = Node(edge.source, edge.symbol)
            if start.whole and source in start.inside:
                continue
            section = _TESTS if graph.is_test(edge.source) else _CODE
            position = _Position(section, edge.source, edge.line)
            known = lines.get(position) or _Line(source, (), None, through)
            kinds = tuple(dict.fromkeys((*known.kinds, edge.kind)))
            lines[position] = known._replace(node=max(known.node, source), kinds=kinds)
            alias = graph.alias_of(edge) if not start.whole else None
            if alias is not None and alias not in names and alias not in start.nodes:
                names[alias] = graph.symbols(alias.path)[alias.symbol].name
                pending.append(alias)
    return lines


def _of_family(graph: LazyGraph, targets: Targets, start: Target) -> Iterable[PossibleSite]:
    """Uses of the methods that the target overrides, or that override it.

    A call of the one may run the other, and a rename has to change both.
    """
    nodes = () if start.whole else start.nodes
    family = [
        (method, why)
        for node in nodes
        for methods, why in (
            (overrides(graph, node), "it overrides"), (overridden_by(graph, node), "overrides it")
        )
        for method in methods
    ][:_FAMILY]  # fmt: skip
    graph.prepare([method for method, _ in family])
    for method, why in family:
        handle = targets.handle(method)
        reason = f"means {handle}, which {why}"
        name_line = graph.symbols(method.path)[method.symbol].name_line
        yield PossibleSite(OF_FAMILY, method.path, name_line, method, 0, reason)
        for edge in graph.edges_to(*method):
            if edge.kind in {"call", "ref"}:
                node = Node(edge.source, edge.symbol)
                yield PossibleSite(OF_FAMILY, edge.source, edge.line, node, 0, reason)


def _reference(targets: Targets, position: _Position, line: _Line) -> Reference:
    lines: Sequence[str] = targets.lines(position.path)
    text = lines[position.line - 1].strip() if position.line <= len(lines) else ""
    site = line.site
    return Reference(
        path=printed(position.path),
        line=position.line,
        text=text[:_LINE_SHOWN],
        kinds=line.kinds,
        within=targets.node(line.node),
        basis=site.basis if site is not None else None,
        choices=site.choices if site is not None else 0,
        why=site.why if site is not None else line.through and f"through {line.through}",
    )


def _position(cursor: str) -> _Position:
    section, _, rest = cursor.partition(":")
    line, _, path = rest.partition(":")
    if not (section.isdecimal() and line.isdecimal() and path):
        raise InvalidArgument("cursor", f"must be one that an answer gave, not {cursor!r}")
    return _Position(int(section), unquote_to_bytes(path), int(line))
