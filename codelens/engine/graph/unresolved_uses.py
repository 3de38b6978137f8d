"""What may use a definition unseen: uses of its name that lead nowhere known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.possible_uses import MOST_NAMES, Unresolved
from codelens.engine.graph.targets import Targets
from codelens.extract.language_detection import language_by_path
from codelens.paths import printed
from codelens.plurals import count_of
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.resolve.walk.relation_walk import overrides
from codelens.store.views.views import OVERSIZED

_SHOWN = 3


class _UnresolvedNames(NamedTuple):
    uses: int
    names: list[str]
    sites: list[tuple[bytes, int]]

    def summary(self) -> str:
        names = ", ".join(self.names[:_SHOWN]) + (", ..." if len(self.names) > _SHOWN else "")
        noun = "the name" if len(self.names) == 1 else "the names"
        return f"{count_of(self.uses, 'use')} of {noun} {names}"


def hidden_notes(
    graph: LazyGraph, own: Unresolved, between: Iterable[Node] = (), where: str = ""
) -> list[str]:
    """One sentence on the uses of these names that could not be resolved, if there are any.

    Args:
        graph: the graph.
        own: the unresolved uses of what is asked about.
        between: others, through which these are used.
        where: of which files the sentence is, if not of those of now.
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
            f"{others.summary()}, hit through others, {verb} hide more ({places(others.sites)})"
        )
    left += own.left
    if left and (clauses or own.left):
        verb = "was" if left == 1 else "were"
        clauses.append(f"uses of {count_of(left, 'more name')} {verb} not looked up")
    return [f"at least: {'; '.join(clauses)}"] if clauses else []


def interface_notes(graph: LazyGraph, targets: Targets, nodes: Iterable[Node]) -> list[str]:
    """One sentence on interfaces of Go through which a method may be called, for all it is known.

    Those that its type satisfies for certain are followed, and not named.
    """
    interfaces: dict[Node, None] = {}
    for node in list(nodes)[:MOST_NAMES]:
        asking = graph.interfaces_asking(node)
        if asking and node not in asking:
            known = overrides(graph, node)
            interfaces |= dict.fromkeys(interface for interface in asking if interface not in known)
    if not interfaces:
        return []
    shown = ", ".join(targets.handle(interface) for interface in list(interfaces)[:_SHOWN])
    more = ", ..." if len(interfaces) > _SHOWN else ""
    return [f"at least: calls through {shown}{more} may reach it, where the object is of its type"]


def oversized_notes(view: CurrentView) -> list[str]:
    """One sentence on files of code that are too large to be read, and so may use anything."""
    large = [
        row.path
        for row in view.snapshot.files
        if row.state == OVERSIZED and spec_of(language_by_path(row.path) or "").follows_names
    ]
    if not large:
        return []
    shown = ", ".join(map(printed, large[:_SHOWN])) + (", ..." if len(large) > _SHOWN else "")
    verb, are = ("was", "is") if len(large) == 1 else ("were", "are")
    return [
        f"at least: {count_of(len(large), 'file')} that {are} larger than `max_file_bytes` {verb} "
        f"not looked into ({shown})"
    ]


def places(sites: list[tuple[bytes, int]]) -> str:
    """The first few places, and whether there are more."""
    shown = ", ".join(f"{printed(path)}:{line}" for path, line in sites[:_SHOWN])
    return f"{shown}, ..." if len(sites) > _SHOWN else shown


def left_behind(graph: LazyGraph, gone: Iterable[str]) -> list[str]:
    """Uses of names whose definitions are gone, that are now unresolved; one sentence for all."""
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
    shown = ", ".join(list(broken)[:_SHOWN]) + (", ..." if len(broken) > _SHOWN else "")
    verb, noun = ("is", "its name") if len(broken) == 1 else ("are", "their names")
    sites = sorted(set(sites))
    now = "is now unresolved" if len(sites) == 1 else "are now unresolved"
    uses = f"{count_of(len(sites), 'use')} of {noun} {now}"
    return [f"{shown} {verb} gone; {uses}: {places(sites)}"]


def _unresolved_names(
    graph: LazyGraph, nodes: Iterable[Node], looked_at: set[str]
) -> tuple[_UnresolvedNames, int]:
    """The unresolved uses of the names of some nodes, and how many names were not looked up."""
    unseen, left = _UnresolvedNames(0, [], []), set[str]()
    for node in nodes:
        if node.symbol == MODULE:
            continue
        symbols = graph.symbols(node.path)
        if node.symbol >= len(symbols):
            continue  # of a file that there was no time to read; the receipt says `partial`
        name = symbols[node.symbol].name
        if name not in looked_at and len(looked_at) >= MOST_NAMES:
            left.add(name)
        elif name not in looked_at:
            looked_at.add(name)
            # Otherwise the answer would depend on what was asked before: only resolved files count.
            graph.prepare([node])
            sites = graph.unresolved(*node, listed=False)
            if sites:
                every = [*unseen.sites, *sites]
                unseen = _UnresolvedNames(len(every), [*unseen.names, name], every)
    return unseen, len(left)
