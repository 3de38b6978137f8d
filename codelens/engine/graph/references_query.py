"""Answers `references`: every line that certainly or possibly uses a target, in pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote, quote_from_bytes, unquote, unquote_to_bytes

from codelens.answers.graph_answers import Reference, ReferencesAnswer
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.method_family import MethodFamily
from codelens.engine.graph.possible_uses import PossibleSite
from codelens.engine.graph.related_query import combined, possible_of, target_of
from codelens.engine.graph.targets import Named, Targets
from codelens.errors import InvalidArgument
from codelens.paths import printed
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.resolve.walk.relation_walk import Target
from codelens.wording import count_of

_SECTIONS = {(False, False): 0, (False, True): 1, (True, False): 2, (True, True): 3}
"""Sections of certain lines: whether they use a method of the family, and are in tests."""
_POSSIBLE = len(_SECTIONS)
"""Possible uses follow it, by rank."""
_LINE_SHOWN = 400


class _Position(NamedTuple):
    """The position of a line in the whole answer; unaffected by changes of other files."""

    is_possible: bool
    owners: tuple[str, ...]
    """Handles of the definitions that the line uses, if several have the name; empty if the line is
    only possible."""
    section: int
    path: bytes
    line: int

    def cursor(self) -> str:
        section = self.section + (_POSSIBLE if self.is_possible else 0)
        owners = ",".join(quote(owner, "/") for owner in self.owners)
        path = quote_from_bytes(self.path)
        return f"{section}:{self.line}:{path}{f':{owners}' if owners else ''}"


class _Line(NamedTuple):
    node: Node
    """The innermost definition that contains the uses of the line."""
    kinds: tuple[str, ...]
    site: PossibleSite | None
    """Set if the line is only possible."""
    why: str = ""
    """What the line uses in place of the target: an alias, or a method of its family."""
    is_of_family: bool = False


_Lines = dict[_Position, _Line]


def references(
    view: CurrentView, target: str, *, limit: int, cursor: str, seconds: float
) -> ReferencesAnswer:
    """Every line that uses `target`, `limit` of them from `cursor` on.

    Raises:
        InvalidArgument: `cursor` does not come from an answer.
        HandleError: `target` cannot be followed.
    """
    after = _position(cursor) if cursor else None
    graph = LazyGraph(view, seconds)
    targets = Targets(view, graph)
    named = targets.find(target)
    start = combined(targets, named)
    graph.prepare(start.nodes)
    possible = possible_of(view, targets, named, start)
    lines = _all_lines(targets, named, start, possible.sites)
    order = sorted(lines)
    begin = sum(1 for position in order if position <= after) if after is not None else 0
    page = order[begin : begin + limit]
    left = len(order) - begin - len(page)
    tests = {section for (_, is_test), section in _SECTIONS.items() if is_test}
    targets.fetch([lines[position].node for position in page])
    notes = [named.moved] if named.moved and not named.owners else []
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
        places=targets.places(named),
        references=tuple(_reference(targets, position, lines[position]) for position in page),
        certain=sum(not position.is_possible for position in order),
        in_tests=sum(not position.is_possible and position.section in tests for position in order),
        in_family=sum(line.is_of_family for line in lines.values()),
        possible=sum(position.is_possible for position in order),
        files=len({position.path for position in order}),
        left=left,
        cursor=page[-1].cursor() if left and page else "",
        notes=tuple(notes),
        owners=named.owners,
        owner_lines=tuple(
            sum(part.node.handle in position.owners for position in order) for part in named.parts
        ),
    )


def _all_lines(
    targets: Targets, named: Named, start: Target, possible: Iterable[PossibleSite]
) -> _Lines:
    """Every line of the answer once: a certain use is no possible one."""
    graph = targets.graph
    parts = {part.node.handle: target_of(targets, part) for part in named.parts} or {"": start}
    lines = _by_owner({owner: _certain(graph, part) for owner, part in parts.items()})
    listed = {(position.path, position.line) for position in lines}
    nodes = () if start.whole else [node for node in start.nodes if node.symbol != MODULE]
    own = {(node.path, graph.symbols(node.path)[node.symbol].name_line) for node in nodes}
    of_families = {owner: _of_family(graph, targets, part) for owner, part in parts.items()}
    for position, line in _by_owner(of_families).items():
        place = (position.path, position.line)
        if place not in listed | own:
            listed.add(place)
            lines[position] = line
    for site in sorted(possible):
        place = (site.path, site.line)
        if place not in listed:
            listed.add(place)
            lines[_Position(True, (), site.rank, *place)] = _Line(site.node, (), site)
    return lines


def _by_owner(lines_by_owner: Mapping[str, _Lines]) -> _Lines:
    """The lines of all definitions with the name, each line once, with the definitions it uses."""
    owners: dict[_Position, list[str]] = {}
    merged: _Lines = {}
    for owner, lines in lines_by_owner.items():
        for position, line in lines.items():
            known = merged.get(position, line)
            kinds = tuple(dict.fromkeys((*known.kinds, *line.kinds)))
            merged[position] = known._replace(node=max(known.node, line.node), kinds=kinds)
            owners.setdefault(position, []).extend([owner] if owner else [])
    return {
        position._replace(owners=tuple(owners[position])): line for position, line in merged.items()
    }


def _certain(graph: LazyGraph, start: Target) -> _Lines:
    """The lines with edges to the target; within the target's own file, those outside of it.

    Followed by the uses of variables that are aliases of it, `g = f`.
    """
    lines: _Lines = {}
    pending = list(start.nodes)
    names: dict[Node, str] = {}
    while pending:
        node = pending.pop(0)
        alias_name = names.get(node, "")
        for edge in graph.edges_to(*node):
            source = Node(edge.source, edge.symbol)
            if start.whole and source in start.inside:
                continue
            section = _SECTIONS[False, graph.is_test(edge.source)]
            position = _Position(False, (), section, edge.source, edge.line)
            why = alias_name and f"through {alias_name}"
            line = lines.get(position) or _Line(source, (), None, why)
            kinds = tuple(dict.fromkeys((*line.kinds, edge.kind)))
            lines[position] = line._replace(node=max(line.node, source), kinds=kinds)
            alias = graph.alias_of(edge) if not start.whole else None
            if alias is not None and alias not in names and alias not in start.nodes:
                names[alias] = graph.symbols(alias.path)[alias.symbol].name
                pending.append(alias)
    return lines


def _of_family(graph: LazyGraph, targets: Targets, start: Target) -> _Lines:
    """The methods that override the target or that it overrides, and the lines that use them."""
    family = {} if start.whole else MethodFamily(graph, targets).of(start.nodes)
    graph.prepare(family)
    lines: _Lines = {}
    for method, relation in family.items():
        why = f"{targets.handle(method)}, which {relation}"
        name_line = graph.symbols(method.path)[method.symbol].name_line
        section = _SECTIONS[True, graph.is_test(method.path)]
        position = _Position(False, (), section, method.path, name_line)
        lines[position] = _Line(method, ("override",), None, why, is_of_family=True)
        for position, line in _certain(graph, Target((method,), frozenset(), whole=False)).items():
            section = _SECTIONS[True, position.section == _SECTIONS[False, True]]
            of_family = line._replace(why=why, is_of_family=True)
            lines.setdefault(position._replace(section=section), of_family)
    return lines


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
        certain=site is None,
        basis=site.basis if site is not None else "family" if line.is_of_family else None,
        choices=site.choices if site is not None else 0,
        why=site.why if site is not None else line.why,
        owners=position.owners,
    )


def _position(cursor: str) -> _Position:
    section, _, rest = cursor.partition(":")
    line, _, rest = rest.partition(":")
    path, _, owners = rest.partition(":")
    if not (section.isdecimal() and line.isdecimal() and path):
        raise InvalidArgument("cursor", f"must come from a previous answer, not {cursor!r}")
    is_possible = int(section) >= _POSSIBLE
    return _Position(
        is_possible,
        tuple(map(unquote, owners.split(","))) if owners else (),
        int(section) - (_POSSIBLE if is_possible else 0),
        unquote_to_bytes(path),
        int(line),
    )
