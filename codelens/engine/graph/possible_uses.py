"""Uses that may mean a definition: one of several of its name, or a use that nothing resolves.

They are listed apart from what is certain, the likeliest first, and never walked on from.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from codelens.answers.graph_answers import Basis, PossibleUse
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.targets import Targets
from codelens.extract.tokenizer import terms_of_word
from codelens.light_library import NamedTuple
from codelens.paths import printed
from codelens.resolve.edges import Edge
from codelens.resolve.facts.file_model import CALLABLE, TYPES
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.store.facts.symbol_keys import key_of
from codelens.types import Symbol

_LOOKED_AT = 60
"""Definitions asked about, with all that they hold."""
MOST_NAMES = 30
_MOST_READ = 300
"""Files whose lines are read to compare receivers with the name of a class."""
_NO_CODE = frozenset({"heading", "key"})
ONE_OF_SEVERAL, BY_NAME, BY_TEXT = 0, 10, 20
"""Ranks; of uses by name the likely ones come down to `ONE_OF_SEVERAL`."""
_UNIQUE, _IMPORTS, _RESEMBLES, _NEAR = 3, 3, 3, 1
"""What makes a use by name likely. Each says more than that the file is in the same folder."""


class PossibleSite(NamedTuple):
    """One line that may use what is asked about."""

    rank: int
    """The lower, the likelier; sites that sort first come first."""
    path: bytes
    line: int
    node: Node
    """The definition that the line is in, or its file."""
    choices: int
    """Of how many definitions the use means one; 0 if that is unknown or all were asked about."""
    why: str

    @property
    def basis(self) -> Basis:
        """As `PossibleUse.basis`."""
        if self.rank >= BY_TEXT:
            return "text"
        return "name" if self.rank else "choice"


class Unresolved(NamedTuple):
    """The unresolved uses of the names of some definitions."""

    sites: list[PossibleSite]
    names: tuple[str, ...]
    """Those that have such uses."""
    left: int
    """Names that were not looked up, as there were too many."""


def grouped(
    graph: LazyGraph, targets: Targets, sites: Iterable[PossibleSite], limit: int
) -> tuple[tuple[PossibleUse, ...], int]:
    """Sites by the definition they are in, `limit` definitions at most; and how many there are."""
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


def several_meant(graph: LazyGraph, nodes: Sequence[Node]) -> Iterator[PossibleSite]:
    """Uses that mean one of several definitions, some of which are asked about."""
    inside = set(nodes)
    edges = [edge for edge in _possible(graph, nodes) if Node(*edge[:2]) not in inside]
    meant: dict[tuple[bytes, int, str], set[Node]] = {}
    for edge in edges:
        use = (edge.source, edge.line, edge.name)
        meant.setdefault(use, set()).add(Node(edge.target, edge.target_symbol))
    for edge in edges:
        known = len(meant[edge.source, edge.line, edge.name])
        choices = edge.choices if known < edge.choices else 0
        node = Node(edge.source, edge.symbol)
        yield PossibleSite(ONE_OF_SEVERAL, edge.source, edge.line, node, choices, "")


def _possible(graph: LazyGraph, nodes: Iterable[Node]) -> Iterator[Edge]:
    looked_at = 0
    for node in nodes:
        symbols = graph.symbols(node.path)
        if not 0 <= node.symbol < len(symbols) or symbols[node.symbol].kind not in CALLABLE:
            continue
        looked_at += 1
        if looked_at > _LOOKED_AT:
            return
        yield from graph.possible_to(*node)


def unresolved(graph: LazyGraph, targets: Targets, nodes: Sequence[Node]) -> Unresolved:
    """Every use of the names of definitions that leads to nothing known, with its likelihood."""
    by_name: dict[str, list[Node]] = {}
    for node in nodes:
        symbols = graph.symbols(node.path)
        if 0 <= node.symbol < len(symbols) and symbols[node.symbol].kind not in _NO_CODE:
            by_name.setdefault(symbols[node.symbol].name, []).append(node)
    looked_at = list(by_name)[:MOST_NAMES]
    # Otherwise the answer would depend on what was asked before: only resolved files count.
    graph.prepare([by_name[name][0] for name in looked_at])
    sites: list[PossibleSite] = []
    names: list[str] = []
    texts: dict[bytes, Sequence[str]] = {}
    for name in looked_at:
        uses = graph.unresolved(*by_name[name][0])
        ranked = list(_ranked(graph, targets, by_name[name], uses, texts)) if uses else []
        if ranked:
            names.append(name)
            sites += ranked
    return Unresolved(sites, tuple(names), len(by_name) - len(looked_at))


def _ranked(
    graph: LazyGraph, targets: Targets, nodes: Sequence[Node], uses: Sequence[tuple[bytes, int]],
    texts: dict[bytes, Sequence[str]],
) -> Iterator[PossibleSite]:  # fmt: skip
    node = nodes[0]
    definition = graph.symbols(node.path)[node.symbol]
    unique = _is_unique(targets, nodes, definition.name)
    own_files = {each.path for each in nodes}
    importers = {path for own in own_files for path in graph.importers(own)} - own_files
    owners = [_owner(graph, each) for each in nodes]
    folders = {path.rpartition(b"/")[0] for path in own_files}
    enclosing: dict[bytes, _Enclosing] = {}
    language = graph.resolved.languages.get(node.path, "")
    is_member = all(owners) and spec_of(language).needs_receiver
    for path, line in uses:
        if path not in enclosing:
            enclosing[path] = _Enclosing(graph.symbols(path))
            if path not in texts and len(texts) < _MOST_READ and any(owners):
                texts[path] = targets.lines(path)
        lines: Sequence[str] = texts.get(path) or ()
        text = lines[line - 1] if line <= len(lines) else ""
        receiver = _receiver(text, definition.name)
        if is_member and not receiver and _is_bare(text, definition.name):
            continue
        alike = next((owner for owner in owners if _resembles(receiver, owner)), "")
        reasons = {
            "only this definition has the name": _UNIQUE * unique,
            "in the file of the definition": _IMPORTS * (path in own_files),
            "its file imports that of the definition": _IMPORTS * (path in importers),
            f"{receiver} resembles {alike}": _RESEMBLES * bool(alike),
        }
        near = _NEAR * (path.rpartition(b"/")[0] in folders)
        rank = BY_NAME - 1 - min(sum(reasons.values()) + near, BY_NAME - 2)
        why = ", ".join(reason for reason, weight in reasons.items() if weight)
        inner = Node(path, enclosing[path].of(line))
        yield PossibleSite(rank, path, line, inner, 0, why)


def _is_unique(targets: Targets, nodes: Sequence[Node], name: str) -> bool:
    """Whether no other definition of code has the name."""
    own = {place for each in nodes for place in targets.graph.same(each)}
    return not any(
        symbol.name == name and symbol.kind not in _NO_CODE and Node(file.path, at) not in own
        for file, at, symbol in targets.view.snapshot.symbols_with_key(key_of(name))
    )


def _owner(graph: LazyGraph, node: Node) -> str:
    """The name of the type that a definition is a member of; empty for any other."""
    symbols = graph.symbols(node.path)
    parent = symbols[node.symbol].parent
    return symbols[parent].name if parent >= 0 and symbols[parent].kind in TYPES else ""


_RECEIVER = r"([A-Za-z_$][\w$]*)(?:\(\)|\[[^\[\]]*\])?\s*(?:\?\.|!\.|\.|->|::|&\.|:)\s*{}\b"
_BARE = r"(?<![\w.$>:&]){}\b"
_MEMBER = r"(?:\.|->|:)\s*{}\b"


def _receiver(text: str, name: str) -> str:
    """The word before the name in a line, as `loader` of `self.loader.get(`; empty if none."""
    matched = re.search(_RECEIVER.replace("{}", re.escape(name)), text) if name in text else None
    return matched[1] if matched else ""


def _is_bare(text: str, name: str) -> bool:
    """Whether a line has the name by itself, and nowhere as a member of something."""
    quoted = re.escape(name)
    return bool(re.search(_BARE.replace("{}", quoted), text)) and not re.search(
        _MEMBER.replace("{}", quoted), text
    )


def _resembles(receiver: str, owner: str) -> bool:
    """Whether a variable is named for a class: `loader` or `base_loader` for `DataLoader`."""
    terms, words = set(terms_of_word(receiver)), terms_of_word(owner)
    # Of several words the last term is all of them in one.
    head = words[-2:][:1]
    return bool(terms) and bool(head) and (head[0] in terms or terms <= set(words))


class _Enclosing:
    """The innermost definition of code around each line of a file."""

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self._symbols = symbols
        self._order = [at for at, symbol in enumerate(symbols) if symbol.kind not in _NO_CODE]
        self._starts = [symbols[at].start_line for at in self._order]

    def of(self, line: int) -> int:
        """Its position among the symbols; `MODULE` outside of all."""
        at = bisect_right(self._starts, line) - 1
        inner = self._order[at] if at >= 0 else MODULE
        while inner != MODULE and (
            self._symbols[inner].end_line < line or self._symbols[inner].kind in _NO_CODE
        ):
            inner = self._symbols[inner].parent
        return inner
