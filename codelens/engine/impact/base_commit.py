"""Who used what a change takes away or declares otherwise: asked of the graph of the commit.

The graph of the files as they are now has no edge to a definition that is gone, to a file under
the path that it had, or from a call that no longer fits. Callers, importers and tests are those of
the commit, as far as they still stand; only files that hold the name are resolved there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from codelens.answers.graph_answers import Fit
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.targets import Targets
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.resolve.walk.reach import Reached, changed_file, changed_symbol, reach
from codelens.scope.text_diff import LineChange, changed_lines
from codelens.types import Symbol


class Former(NamedTuple):
    """A definition or file of the commit, that does not stand as it stood."""

    path: bytes
    """At the commit."""
    symbol: int | None
    """Position; None for the file with all that is in it."""


class Formerly(NamedTuple):
    """Who used it, as they stand now."""

    found: tuple[Reached, ...]
    via: Mapping[Node, str]
    """The handle of what each of them used; in the commit, of what is gone."""
    fits: Mapping[Node, Fit]
    """Of those who call what is declared otherwise or gone, whether they still can."""
    cut: bool
    """There is more than could be followed."""


class Before:
    """The commit's graph beside the files of now.

    Args:
        base: a look at the commit; in the same read transaction as `now`.
        now: names of what stands now.
        moves: where files that only moved were, and are.
        became: of files that changed, by path: position of a definition then -> now.
        seconds: how long files may be resolved for.
    """

    def __init__(
        self, base: CurrentView, now: Targets, moves: Mapping[bytes, bytes],
        became: Mapping[bytes, Mapping[int, int]], seconds: float,
    ) -> None:  # fmt: skip
        self._base = base
        self._now = now
        self._moves = moves
        self._became = became
        self.graph = LazyGraph(base, seconds)
        # Files that nothing changed for lead where they lead now.
        self.graph.trust(now.graph)
        self.targets = Targets(base, self.graph)
        self._hunks: dict[bytes, Sequence[LineChange]] = {}

    def nodes(self, formers: Iterable[Former]) -> list[Node]:
        """What they are nodes of."""
        found: dict[Node, None] = {}
        for one in formers:
            if one.symbol is None:
                found.update(dict.fromkeys(changed_file(self.graph, one.path)))
            elif one.symbol < len(self.graph.symbols(one.path)):
                node = Node(one.path, one.symbol)
                gone = self.standing(node) is None
                # A type that stands is asked for by its name; what changed in it is told apart.
                of = changed_symbol(self.graph, node) if gone else [node]
                found.update(dict.fromkeys(of))
        return list(found)

    def hit(self, nodes: Sequence[Node], depth: int) -> Formerly:
        """What used these nodes at the commit, through others or not, and stands now."""
        reached = reach(self.graph, nodes, depth)
        self.targets.fetch([one.node for one in reached.found] + [one.via for one in reached.found])
        standing = {one.node: self.standing(one.node) for one in reached.found}
        self._now.fetch([node for node in standing.values() if node is not None])
        found: list[Reached] = []
        via: dict[Node, str] = {}
        for one in reached.found:
            node = standing[one.node]
            if node is None or node in via:
                continue
            through = standing.get(one.via)
            via[node] = (
                self._now.handle(through) if through is not None else self.targets.handle(one.via)
            )
            found.append(one._replace(node=node, line=self.line(one.node.path, one.line)))
        return Formerly(tuple(found), via, {}, reached.cut)

    def standing(self, node: Node) -> Node | None:
        """A node of the commit as it stands now; None if it does not."""
        path = self._moves.get(node.path, node.path)
        if path not in self._now.view.snapshot.by_path:
            return None
        if node.symbol == MODULE:
            return Node(path, MODULE)
        known = self._became.get(node.path)
        if known is not None:
            return Node(path, known[node.symbol]) if node.symbol in known else None
        before, now = self.targets.symbols(node.path), self._now.symbols(path)
        if node.symbol >= len(before):
            return None
        named = _named(before, before[node.symbol].qualified)
        standing = _named(now, before[node.symbol].qualified)
        number = named.index(node.symbol)
        return Node(path, standing[number]) if number < len(standing) else None

    def line(self, path: bytes, line: int) -> int:
        """Where a line of the commit stands now; one that is gone, where it stood."""
        unchanged, place = self._place(path, line)
        return place if unchanged else max(place, 1)

    def is_unchanged(self, path: bytes, line: int) -> bool:
        """Whether a line of the commit still stands as it was."""
        return self._place(path, line)[0]

    def _place(self, path: bytes, line: int) -> tuple[bool, int]:
        moved = 0
        for hunk in self._changed(path):
            # Of a side without lines the start is the line before.
            first = hunk.old_start if hunk.old_lines else hunk.old_start + 1
            if line < first:
                break
            if line < first + hunk.old_lines:
                return False, hunk.new_start
            moved += hunk.new_lines - hunk.old_lines
        return True, line + moved

    def _changed(self, path: bytes) -> Sequence[LineChange]:
        known = self._hunks.get(path)
        if known is None:
            known = self._hunks[path] = self._compared(path)
        return known

    def _compared(self, path: bytes) -> Sequence[LineChange]:
        old = self._base.snapshot.by_path.get(path)
        now = self._now.view
        new = now.snapshot.by_path.get(self._moves.get(path, path))
        if old is None or new is None or old.content == new.content:
            return ()
        return changed_lines(self._base.read(old) or b"", now.read(new) or b"")


def _named(symbols: Sequence[Symbol], qualified: str) -> list[int]:
    return [at for at, one in enumerate(symbols) if one.qualified == qualified]
