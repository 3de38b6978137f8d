"""Answers `references`: every line that certainly or possibly uses a target, in pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple
from urllib.parse import quote, quote_from_bytes, unquote, unquote_to_bytes

from codelens.answers.graph_answers import Reference, ReferencesAnswer
from codelens.branches.parameters import parameters
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.possible_uses import PossibleSite
from codelens.engine.graph.related_query import combined, possible_of, target_of
from codelens.engine.graph.targets import Named, Targets
from codelens.errors import InvalidArgument
from codelens.paths import printed
from codelens.resolve.languages.registry import LanguageSpec, spec_of
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.resolve.walk.relation_walk import OVERRIDING, Target, overridden_by, overrides
from codelens.types import Symbol
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


# The methods that override a method, or that it overrides: a rename must change them all.
#
# The same holds for fields where an object has only one of a name, as in Python. This family
# includes the methods of sibling types. It excludes a method of the same name that hides the other
# instead of overriding it (`private`, `static`, a missing `override`), and other overloads.

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
