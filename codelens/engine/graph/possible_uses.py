"""Finds and ranks possible uses of a definition: ambiguous and unresolved uses of its name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from codelens.answers.graph_answers import Basis, PossibleUse
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.declared_places import NO_CODE, Enclosing
from codelens.engine.graph.lazy_graph import LazyGraph, is_field
from codelens.engine.graph.targets import Targets
from codelens.extract.language_detection import language_by_path
from codelens.extract.tokenizer import terms_of_word
from codelens.paths import printed
from codelens.resolve.edges import Edge
from codelens.resolve.file_model import CALLABLE, TYPES
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.resolve.walk.relation_walk import overrides
from codelens.store.facts.resolution_facts import key_of
from codelens.store.views.views import OVERSIZED
from codelens.wording import count_of, first_of

_SHOWN = 3


class _UnresolvedNames(NamedTuple):
    uses: int
    names: list[str]
    sites: list[tuple[bytes, int]]

    def summary(self) -> str:
        noun = "the name" if len(self.names) == 1 else "the names"
        return f"{count_of(self.uses, 'use')} of {noun} {first_of(self.names, _SHOWN)}"


def hidden_notes(
    graph: LazyGraph, own: Unresolved, between: Iterable[Node] = (), where: str = ""
) -> list[str]:
    """One sentence on the unresolved uses of these names, if there are any.

    Args:
        graph: the graph.
        own: the unresolved uses of the target.
        between: other definitions, which use the target.
        where: the files that the sentence is about, if not the current ones.
    """
    sites = sorted({(site.path, site.line) for site in own.sites})
    named = _UnresolvedNames(len(sites), list(own.names), sites)
    others, left = _unresolved_names(graph, between, set(own.names))
    unresolved = f"could not be resolved{where} and may"
    clauses: list[str] = []
    if named.uses:
        clauses.append(f"{named.summary()} {unresolved} mean it ({places(named.sites)})")
    if others.uses:
        verb = "may" if named.uses else unresolved
        clauses.append(
            f"{others.summary()}, affected indirectly, {verb} hide more ({places(others.sites)})"
        )
    left += own.left
    if left and (clauses or own.left):
        verb = "was" if left == 1 else "were"
        clauses.append(f"uses of {count_of(left, 'more name')} {verb} not looked up")
    return [f"at least: {'; '.join(clauses)}"] if clauses else []


def interface_notes(graph: LazyGraph, targets: Targets, nodes: Iterable[Node]) -> list[str]:
    """One sentence on the Go interfaces through which a method may be called.

    Interfaces that its type certainly satisfies are followed, and not listed.
    """
    interfaces: dict[Node, None] = {}
    for node in list(nodes)[:MOST_NAMES]:
        asking = graph.interfaces_asking(node)
        if asking and node not in asking:
            overridden = overrides(graph, node)
            interfaces |= dict.fromkeys(
                interface for interface in asking if interface not in overridden
            )
    if not interfaces:
        return []
    shown = first_of([targets.handle(interface) for interface in interfaces], _SHOWN)
    return [f"at least: calls through {shown} may reach it, where the object is of its type"]


def oversized_notes(view: CurrentView) -> list[str]:
    """One sentence on source files that are too large to be read, and so may use anything."""
    large = [
        row.path
        for row in view.snapshot.files
        if row.state == OVERSIZED and spec_of(language_by_path(row.path) or "").follows_names
    ]
    if not large:
        return []
    verb, are = ("was", "is") if len(large) == 1 else ("were", "are")
    return [
        f"at least: {count_of(len(large), 'file')} that {are} larger than `max_file_bytes` {verb} "
        f"not searched ({first_of([*map(printed, large)], _SHOWN)})"
    ]


def places(sites: list[tuple[bytes, int]]) -> str:
    """The first few places, with `, ...` if there are more."""
    return first_of([f"{printed(path)}:{line}" for path, line in sites], _SHOWN)


def left_behind(graph: LazyGraph, gone: Iterable[str]) -> list[str]:
    """One sentence on unresolved uses of names whose definitions are gone."""
    names = {qualified.rpartition(".")[2]: qualified for qualified in gone}
    table = graph.table()
    sites: list[tuple[bytes, int]] = []
    broken: dict[str, None] = {}
    for path, uses in graph.holding(names.keys()) if names else ():
        if not uses:
            continue
        graph.resolve([path])
        if path not in table:
            continue
        for use in uses:
            if use.line not in table.lines(path, use.name):
                sites.append((path, use.line))
                broken[names[use.name]] = None
    if not sites:
        return []
    verb, noun = ("is", "its name") if len(broken) == 1 else ("are", "their names")
    sites = sorted(set(sites))
    now = "is now unresolved" if len(sites) == 1 else "are now unresolved"
    uses = f"{count_of(len(sites), 'use')} of {noun} {now}"
    return [f"{first_of([*broken], _SHOWN)} {verb} gone; {uses}: {places(sites)}"]


def _unresolved_names(
    graph: LazyGraph, nodes: Iterable[Node], looked_at: set[str]
) -> tuple[_UnresolvedNames, int]:
    """The unresolved uses of the nodes' names, and how many names were not looked up."""
    unseen, left = _UnresolvedNames(0, [], []), set[str]()
    for node in nodes:
        if node.symbol == MODULE:
            continue
        symbols = graph.symbols(node.path)
        if node.symbol >= len(symbols):
            continue  # There was no time to read its file; the receipt says `partial`.
        name = symbols[node.symbol].name
        if name not in looked_at and len(looked_at) >= MOST_NAMES:
            left.add(name)
        elif name not in looked_at:
            looked_at.add(name)
            # Only resolved files count; otherwise the answer would depend on earlier calls.
            graph.prepare([node])
            sites = graph.unresolved(*node, listed=False)
            if sites:
                every = [*unseen.sites, *sites]
                unseen = _UnresolvedNames(len(every), [*unseen.names, name], every)
    return unseen, len(left)


# Finds uses that may mean a definition: they mean one of several with its name, or are unresolved.
#
# They are listed separately from certain uses, the most likely first, and walks stop at them.

_LOOKED_AT = 60
"""Maximum number of definitions in the target."""
MOST_NAMES = 30
ONE_OF_SEVERAL, BY_NAME, BY_TEXT = 0, 10, 20
"""Ranks of the bases; each leaves room for the likelihood."""
_BASES: tuple[Basis, ...] = ("choice", "name", "text")
_UNIQUE, _IMPORTS, _RESEMBLES, _NEAR, _MOST = 3, 3, 3, 1, 9
"""Evidence that a use is likely. Each weighs more than being in the same folder."""


class PossibleSite(NamedTuple):
    """One line that may use the target."""

    rank: int
    """Lower is likelier; sites are sorted by it."""
    path: bytes
    line: int
    node: Node
    """The definition that contains the line, or its file."""
    choices: int
    """Number of definitions that the use may mean; 0 if unknown or all are in the target."""
    why: str

    @property
    def basis(self) -> Basis:
        """See `PossibleUse.basis`."""
        return _BASES[min(self.rank // BY_NAME, len(_BASES) - 1)]


class Unresolved(NamedTuple):
    """The unresolved uses of the names of some definitions."""

    sites: list[PossibleSite]
    names: tuple[str, ...]
    """The names that have such uses."""
    left: int
    """Number of names that were not looked up because there were too many."""


def unexplained(
    sites: Iterable[PossibleSite], explained: Iterable[PossibleSite]
) -> list[PossibleSite]:
    """Sites of a bare name that no convention or text explains."""
    places = {(site.path, site.line) for site in explained}
    return [site for site in sites if (site.path, site.line) not in places]


def grouped(
    graph: LazyGraph, targets: Targets, sites: Iterable[PossibleSite], limit: int
) -> tuple[tuple[PossibleUse, ...], int]:
    """Sites by definition, at most `limit` definitions; and the number of all definitions."""
    groups: dict[tuple[int, Node, str], list[PossibleSite]] = {}
    for site in sites:
        groups.setdefault((site.rank, site.node, site.why), []).append(site)

    def order(key: tuple[int, Node, str]) -> tuple[object, ...]:
        rank, node, why = key
        return (rank, graph.is_test(node.path), -len(groups[key]), node, why)

    keys = sorted(groups, key=order)
    targets.fetch([node for _, node, _ in keys[:limit]])
    uses = tuple(_possible_use(targets, groups[key]) for key in keys[:limit])
    return uses, len(keys)


def _possible_use(targets: Targets, sites: Sequence[PossibleSite]) -> PossibleUse:
    lines = sorted({(site.path, site.line) for site in sites})
    shown = tuple(f"{printed(path)}:{line}" for path, line in lines)
    choices = max(site.choices for site in sites)
    first = sites[0]
    return PossibleUse(targets.node(first.node), shown, len(lines), choices, first.why, first.basis)


def ambiguous_sites(
    graph: LazyGraph, targets: Targets, nodes: Sequence[Node]
) -> Iterator[PossibleSite]:
    """Uses that mean one of several definitions, some of which are in the target."""
    inside = set(nodes)
    edges = [edge for edge in _possible(graph, nodes) if Node(*edge[:2]) not in inside]
    nodes_by_use: dict[tuple[bytes, int, str], set[Node]] = {}
    for edge in edges:
        use = (edge.source, edge.line, edge.name)
        nodes_by_use.setdefault(use, set()).add(Node(edge.target, edge.target_symbol))
    by_name: dict[str, _Likelihood] = {}
    for edge in edges:
        nodes_of_use = nodes_by_use[edge.source, edge.line, edge.name]
        choices = edge.choices if len(nodes_of_use) < edge.choices else 0
        node, score, why = Node(edge.source, edge.symbol), 0, ""
        if edge.name not in by_name:
            by_name[edge.name] = _Likelihood(graph, targets, sorted(nodes_of_use))
        likelihood = by_name[edge.name]
        if choices and likelihood.needs_receiver:
            # Only the name suggests that a receiver of unknown type is one of these.
            score, why = likelihood.of(edge.source, edge.line)
        rank = ONE_OF_SEVERAL + _MOST - score
        yield PossibleSite(rank, edge.source, edge.line, node, choices, why)


def _possible(graph: LazyGraph, nodes: Iterable[Node]) -> Iterator[Edge]:
    looked_at = 0
    for node in nodes:
        symbols = graph.symbols(node.path)
        if not 0 <= node.symbol < len(symbols) or symbols[node.symbol].kind in NO_CODE:
            continue
        looked_at += 1
        if looked_at > _LOOKED_AT:
            return
        yield from graph.possible_to(*node)


def unresolved(
    graph: LazyGraph, targets: Targets, nodes: Sequence[Node], *, listed: bool = True,
    inside: Collection[Node] = (),
) -> Unresolved:  # fmt: skip
    """Every unresolved use of the names of definitions, with its likelihood.

    Args:
        graph: the graph.
        targets: reads names and texts of files.
        nodes: the definitions.
        listed: whether possible edges are listed separately; otherwise they count as unresolved.
        inside: definitions whose own uses do not count.
    """
    by_name: dict[str, list[Node]] = {}
    for node in nodes:
        symbols = graph.symbols(node.path)
        if 0 <= node.symbol < len(symbols) and symbols[node.symbol].kind not in NO_CODE:
            by_name.setdefault(symbols[node.symbol].name, []).append(node)
    looked_at = list(by_name)[:MOST_NAMES]
    # Only resolved files count; otherwise the answer would depend on earlier calls.
    graph.prepare([by_name[name][0] for name in looked_at])
    sites: list[PossibleSite] = []
    names: list[str] = []
    for name in looked_at:
        likelihood = _Likelihood(graph, targets, by_name[name])
        uses = graph.unresolved(
            *by_name[name][0],
            listed=listed,
            values=likelihood.is_only_member_of_name,
            members=likelihood.needs_receiver,
        )
        if likelihood.is_private:
            uses = [(path, line) for path, line in uses if path in likelihood.own_files]
        ranked = list(_ranked(graph, likelihood, by_name[name], uses))
        ranked = [site for site in ranked if site.node not in inside]
        if ranked:
            names.append(name)
            sites += ranked
    return Unresolved(sites, tuple(names), len(by_name) - len(looked_at))


def _ranked(
    graph: LazyGraph, likelihood: _Likelihood, nodes: Sequence[Node],
    uses: Sequence[tuple[bytes, int]],
) -> Iterator[PossibleSite]:  # fmt: skip
    enclosing: dict[bytes, Enclosing] = {}
    # `partial = functools.partial(f)` and `class Query(orm.Query)` use other definitions.
    own = {
        (node.path, symbol.name_line)
        for node in nodes
        if (symbol := graph.symbols(node.path)[node.symbol]).kind not in CALLABLE
    }
    for path, line in uses:
        if (path, line) in own:
            continue
        if path not in enclosing:
            enclosing[path] = Enclosing(graph.symbols(path))
        if not likelihood.is_bare(path, line):
            score, why = likelihood.of(path, line)
            inner = Node(path, graph.resolved.source(path, enclosing[path].of(line)))
            yield PossibleSite(BY_NAME + _MOST - score, path, line, inner, 0, why)


class _Likelihood:
    """How likely a use of a name means one of some definitions with the name."""

    def __init__(self, graph: LazyGraph, targets: Targets, nodes: Sequence[Node]) -> None:
        node = nodes[0]
        self._targets = targets
        self._name = graph.symbols(node.path)[node.symbol].name
        self._unique = _is_unique(targets, nodes, self._name)
        self.own_files = {each.path for each in nodes}
        self._graph = graph
        self._owners = [_owner(graph, each) for each in nodes]
        self._folders = {path.rpartition(b"/")[0] for path in self.own_files}
        language = graph.resolved.languages.get(node.path, "")
        self.is_private = all(_is_private(graph, each) for each in nodes)
        """Whether no other file can use the definitions."""
        fields = is_field(graph.symbols(node.path), node.symbol)
        self.needs_receiver = all(self._owners) and (spec_of(language).needs_receiver or fields)
        """Whether the definitions are members, which need a receiver."""

    @cached_property
    def _importers(self) -> set[bytes]:
        importing = (path for own in self.own_files for path in self._graph.importers(own))
        return set(importing) - self.own_files

    @property
    def is_only_member_of_name(self) -> bool:
        """Whether a member read from a value of unknown type (`a.name`) may well mean these."""
        return self.needs_receiver and self._unique

    def _text(self, path: bytes, line: int) -> str:
        lines = self._targets.lines(path) if any(self._owners) else ()
        return lines[line - 1] if line <= len(lines) else ""

    def is_bare(self, path: bytes, line: int) -> bool:
        """Whether a line has the name without a receiver, so that it cannot mean a member."""
        text = self._text(path, line)
        return (
            self.needs_receiver and not _receiver(text, self._name) and _is_bare(text, self._name)
        )

    def of(self, path: bytes, line: int) -> tuple[int, str]:
        """The likelihood from 0 to `_MOST`, and the reasons."""
        receiver = _receiver(self._text(path, line), self._name)
        alike = next((owner for owner in self._owners if _resembles(receiver, owner)), "")
        reasons = {
            "no other definition has the name": _UNIQUE * self._unique,
            "in the file of the definition": _IMPORTS * (path in self.own_files),
            "its file imports that of the definition": _IMPORTS * (path in self._importers),
            f"{receiver} resembles {alike}": _RESEMBLES * bool(alike),
        }
        near = _NEAR * (path.rpartition(b"/")[0] in self._folders)
        score = min(sum(reasons.values()) + near, _MOST)
        return score, ", ".join(reason for reason, weight in reasons.items() if weight)


def _is_unique(targets: Targets, nodes: Sequence[Node], name: str) -> bool:
    """Whether no other definition of code has the name."""
    others = {
        Node(file.path, at)
        for file, at, symbol in targets.view.snapshot.symbols_with_key(key_of(name))
        if symbol.name == name and symbol.kind not in NO_CODE
    }.difference(nodes)
    return not others or others.issubset(
        place for each in nodes for place in targets.graph.same(each)
    )


def _is_private(graph: LazyGraph, node: Node) -> bool:
    """Whether a definition is marked as usable only in its file."""
    word = spec_of(graph.resolved.languages.get(node.path, "")).private_word
    signature = graph.symbols(node.path)[node.symbol].signature
    return bool(word) and word in signature.partition("(")[0].split()


def _owner(graph: LazyGraph, node: Node) -> str:
    """The name of the type that a definition is a member of; empty if it is not a member."""
    symbols = graph.symbols(node.path)
    parent = symbols[node.symbol].parent
    return symbols[parent].name if parent >= 0 and symbols[parent].kind in TYPES else ""


_RECEIVER = r"([A-Za-z_$][\w$]*)(?:\(\)|\[[^\[\]]*\])?\s*(?:\?\.|!\.|\.|->|::|&\.|:)\s*{}\b"
_BARE = r"(?<![\w.$>:&'\"]){}\b"
_MEMBER = r"(?:\.|->|:)\s*{}\b"


def _receiver(text: str, name: str) -> str:
    """The word before the name in a line, as `loader` of `self.loader.get(`; empty if none."""
    matched = re.search(_RECEIVER.replace("{}", re.escape(name)), text) if name in text else None
    return matched[1] if matched else ""


def _is_bare(text: str, name: str) -> bool:
    """Whether a line has the name without a receiver only."""
    quoted = re.escape(name)
    return bool(re.search(_BARE.replace("{}", quoted), text)) and not re.search(
        _MEMBER.replace("{}", quoted), text
    )


def _resembles(receiver: str, owner: str) -> bool:
    """Whether a variable is named after a class: `loader` or `base_loader` for `DataLoader`."""
    terms, words = set(terms_of_word(receiver)), terms_of_word(owner)
    # The last term of several words is all of them combined.
    head = words[-2:][:1]
    return bool(terms) and bool(head) and (head[0] in terms or terms <= set(words))
