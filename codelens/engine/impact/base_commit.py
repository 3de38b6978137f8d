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


class BaseNode(NamedTuple):
    """A definition or file of the commit, that does not stand as it stood."""

    path: bytes
    """At the commit."""
    symbol: int | None
    """Position; None for the file with all that is in it."""


class BaseUsers(NamedTuple):
    """Who used it, as they stand now."""

    users: tuple[Reached, ...]
    via: Mapping[Node, str]
    """The handle of what each of them used; in the commit, of what is gone."""
    fits: Mapping[Node, Fit]
    """Of those who call what is declared otherwise or gone, whether they still can."""
    cut: bool
    """There is more than could be followed."""


class BaseGraph:
    """The commit's graph beside the files of now.

    Args:
        base: a look at the commit; in the same read transaction as `now`.
        now: names of what stands now.
        moves: where files that only moved were, and are.
        new_positions: of files that changed, by path: position of a definition then -> now.
        seconds: how long files may be resolved for.
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
        # Files that nothing changed for lead where they lead now.
        self.graph.trust(now.graph)
        self.targets = Targets(base, self.graph)
        self._hunks: dict[bytes, Sequence[LineChange]] = {}

    def nodes(self, base_nodes: Iterable[BaseNode]) -> list[Node]:
        """What they are nodes of."""
        graph_nodes: dict[Node, None] = {}
        for base_node in base_nodes:
            if base_node.symbol is None:
                graph_nodes.update(dict.fromkeys(changed_file(self.graph, base_node.path)))
            elif base_node.symbol < len(self.graph.symbols(base_node.path)):
                node = self.graph.body_of(Node(base_node.path, base_node.symbol))
                is_gone = self.standing(node) is None
                # A type that stands is asked for by its name; what changed in it is told apart.
                changed_nodes = changed_symbol(self.graph, node) if is_gone else [node]
                graph_nodes.update(dict.fromkeys(changed_nodes))
        return list(graph_nodes)

    def hit(
        self, nodes: Sequence[Node], depth: int, contracts: Mapping[Node, Sequence[Node]]
    ) -> BaseUsers:
        """What used these nodes at the commit, through others or not, and stands now.

        Of `contracts` the declaration changed: what overrides them passes it on.
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
        """A node of the commit as it stands now; None if it does not."""
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


def _positions_of(symbols: Sequence[Symbol], qualified: str) -> list[int]:
    return [at for at, symbol in enumerate(symbols) if symbol.qualified == qualified]
