"""What of a map does not hang on focus and budget."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol, cast

from codelens.answers.graph_answers import MapSymbol
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.targets import Targets
from codelens.errors import HandleError
from codelens.extract.language_settings import language_info
from codelens.rank.file_links import Linking, Links, Source, relinked
from codelens.resolve.file_model import CALLABLE, TYPES
from codelens.resolve.imports import Importer
from codelens.resolve.walk.edge_table import Node
from codelens.store.facts import ranking_reads
from codelens.store.facts.contents import Content
from codelens.store.facts.ranking_reads import Top
from codelens.store.views.snapshot import Snapshot
from codelens.types import Import


class Ranked(NamedTuple):
    """What of the map does not hang on focus and budget; kept with the state of the view."""

    sources: list[Source]
    roles: dict[bytes, str]
    links: Links
    about: dict[int, Content]
    bodies: dict[int, int]
    """Content -> how many functions and types it defines."""
    left_out: int
    unread: int = 0
    """Files of which it is not known yet what they define."""
    unlinked: int = 0
    """Files among the sources of which it is not known yet what they use."""


# What the map is ranked by, kept over the states of a view: an edit costs what it touches.
#
# Of a large repository not all is read in the time of one question: then those files are ranked
# that are known, the others are counted, and the next question goes on.

_MOST_FILES = 20_000
"""Files that are ranked; of more, tests and what others wrote go first."""
_MOST_GONE = 5_000
"""Contents of earlier states that are remembered."""
_BATCH = 1_000
"""Contents that are read between two looks at the clock: about 0.1 s of C."""


class _Facts(NamedTuple):
    """What is ranked of one content."""

    top: Top
    imports: tuple[Import, ...]


class _RankCache:
    """All that is known of a view's files, of the states that were asked about."""

    def __init__(self) -> None:
        self.facts: dict[int, _Facts | None] = {}
        """None for a content that defines nothing."""
        self.about: dict[int, Content] = {}
        self.roles: dict[bytes, str] = {}
        self.ranked: Ranked | None = None
        """As of the last state that was read and linked to its end."""
        self.importer: Importer | None = None
        """The one that `ranked` stands on."""
        self.linking: Linking | None = None
        """Links of a state that time ran out for."""

    def read(self, snapshot: Snapshot, spent: Callable[[], bool]) -> int:
        """Read what is not known yet, as far as time allows; how many files are left."""
        if len(self.about) > len(snapshot.by_content) + _MOST_GONE:
            self.about.clear()
            self.facts.clear()
        self.about.update(
            snapshot.about(
                [content for content in snapshot.by_content if content not in self.about]
            )
        )
        unseen = [file.path_id for file in snapshot.files if file.path not in self.roles]
        self.roles.update(
            (path_fact.path, path_fact.role) for path_fact in snapshot.path_facts(unseen).values()
        )
        new = self._unread(snapshot)
        for start in range(0, len(new), _BATCH):
            if start and spent():
                return sum(len(snapshot.by_content[content]) for content in new[start:])
            self._take(snapshot, new[start : start + _BATCH])
        return 0

    def _unread(self, snapshot: Snapshot) -> list[int]:
        """Contents to be read: code of the project first, and what is nearest to the root."""
        new = [content for content in snapshot.by_content if content not in self.facts]
        if len(new) <= _BATCH:
            return new

        def place(content: int) -> tuple[bool, int, bytes]:
            path = snapshot.by_content[content][0].path
            return bool(self.roles.get(path)), path.count(b"/"), path

        return sorted(new, key=place)

    def _take(self, snapshot: Snapshot, new: list[int]) -> None:
        tops = ranking_reads.tops(snapshot.db, new, CALLABLE | TYPES)
        imported = {
            content: tuple(Import(row[0], row[1], row[2], int(row[3])) for row in rows)
            for content, rows in ranking_reads.imports(snapshot.db, tops)
        }
        for content in new:
            top = tops.get(content)
            self.facts[content] = None if top is None else _Facts(top, imported.get(content, ()))


def ranked(view: CurrentView, graph: LazyGraph) -> Ranked:
    """The files of a view as the map ranks them, for any focus and budget.

    Once the graph's time is spent, only those that are known; `unread` and `unlinked` tell how many
    are not.
    """
    # Taken out while it changes: a question that is broken off leaves nothing half done.
    stored = cast("_RankCache", graph.lasting.pop("map", None) or _RankCache())
    unread = stored.read(view.snapshot, graph.spent)
    sources, left_out = _sources(view.snapshot, graph, stored)
    bodies = {
        content: facts.top.bodies for content, facts in stored.facts.items() if facts is not None
    }
    links, unlinked = _links(view, graph, stored, sources)
    ranking = Ranked(sources, stored.roles, links, stored.about, bodies, left_out, unread, unlinked)
    stored.ranked = None if unlinked else ranking
    stored.importer = graph.resolved.importer
    graph.lasting["map"] = stored
    return ranking


def _sources(snapshot: Snapshot, graph: LazyGraph, stored: _RankCache) -> tuple[list[Source], int]:
    """The files to be ranked, by path, and how many are left out."""
    facts, roles, languages = stored.facts, stored.roles, graph.resolved.languages
    chosen = [
        (bool(roles.get(file.path)), file.path, known)
        for file in snapshot.files
        if file.content is not None
        and (known := facts.get(file.content)) is not None
        and known.top.is_code
    ]
    chosen.sort(key=lambda row: row[:2])
    before = {source.path: source for source in _before(stored)}
    by_path = snapshot.by_path
    sources: list[Source] = []
    for _, path, known in sorted(chosen[:_MOST_FILES], key=lambda row: row[1]):
        old, content = before.get(path), cast("int", by_path[path].content)
        if old is not None and old.content == content and old.language == languages[path]:
            sources.append(old)
        else:
            sources.append(Source(path, content, languages[path], known.top.names, known.imports))
    return sources, max(len(chosen) - _MOST_FILES, 0)


def _before(stored: _RankCache) -> Iterable[Source]:
    if stored.linking is not None:
        return stored.linking.sources
    return stored.ranked.sources if stored.ranked is not None else ()


def _links(
    view: CurrentView, graph: LazyGraph, stored: _RankCache, sources: list[Source]
) -> tuple[Links, int]:
    """Who uses whom, and how many files are not looked into yet."""
    importer, before = graph.resolved.importer, stored.ranked

    def counts(contents: Iterable[int]) -> Iterator[tuple[int, Mapping[str, int]]]:
        return ranking_reads.use_counts(view.snapshot.db, contents)

    if (
        before is not None
        and stored.importer is importer
        and [source.path for source in before.sources] == [source.path for source in sources]
        and relinked(
            before.links,
            before.sources,
            sources,
            importer,
            counts=counts,
            holding=lambda names: {path for path, _ in graph.holding(names)},
        )
    ):
        return before.links, 0
    linking = stored.linking
    if linking is None or linking.importer is not importer or linking.sources != sources:
        linking = Linking(sources, importer)
    while linking.left:
        linking.go_on(counts)
        if linking.left and graph.spent():
            break
    stored.linking = linking if linking.left else None
    return linking.links, linking.unlinked


# How many files use a definition: by resolved edges, as `related` tells them.
#
# Names alone would count every use of another definition so called. To resolve takes time: what was
# not resolved within it is told as not counted in full.

_SHARE, _LEAST_SECONDS, _MOST_SECONDS = 0.1, 0.5, 3.0
"""Of the time of a question, what counting may take."""

_NO_USES = frozenset({"import", "satisfy", "override"})
"""Kinds of edges that name a definition without using it."""


class Users(NamedTuple):
    """The files that use a definition, its own not counted."""

    files: int
    complete: bool
    """All files that hold its name are resolved; else there may be more."""


class UserCounts(Protocol):
    """Tells how many files use a definition."""

    def of(self, node: Node) -> Users:
        """The users of a definition."""
        ...


class NamedUsers:
    """Counts by names alone: quick, and too many where other things are so called."""

    def __init__(self, targets: Targets, ranked: Ranked) -> None:
        self._targets = targets
        self._users = ranked.links.users
        self._numbers = {source.path: at for at, source in enumerate(ranked.sources)}

    def of(self, node: Node) -> Users:
        """The files that hold the name of a definition."""
        name = self._targets.symbols(node.path)[node.symbol].name
        return Users(self._users[self._numbers[node.path], name], complete=True)


class DefinitionUsers:
    """Counts for one state of a view; its database must be in a read transaction.

    Args:
        view: the view.
        seconds: the time that the question has.
    """

    def __init__(self, view: CurrentView, seconds: float) -> None:
        self._graph = LazyGraph(view, min(max(seconds * _SHARE, _LEAST_SECONDS), _MOST_SECONDS))
        self._targets = Targets(view, self._graph)
        counted = self._graph.values.setdefault("map users", {})
        self._counted = cast("dict[Node, Users]", counted)
        self.incomplete: set[Node] = set()
        """Definitions asked for, and not counted in full."""

    def look_up(self, nodes: Iterable[Node]) -> None:
        """Resolve what may use some definitions in one go, as far as time allows."""
        new = [node for node in nodes if node not in self._counted]
        self._graph.prepare([part for node in new for part in self._parts(node)])

    def of(self, node: Node) -> Users:
        """The users of a definition as far as there is time to resolve them."""
        known = self._counted.get(node)
        if known is not None:
            return known
        parts = self._parts(node)
        self._graph.prepare(parts)
        complete = all(self._graph.knows_users(*part) for part in parts)
        # An import alone is no use: it names a class and the function of its name alike. What
        # satisfies an interface does not name it, so it would count in resolved files alone.
        files = {
            edge.source
            for part in parts
            for edge in self._graph.known_users(*part)
            if edge.kind not in _NO_USES
        }
        users = Users(len(files - {part.path for part in parts}), complete)
        if complete:
            self._counted[node] = users
        else:
            self.incomplete.add(node)
        return users

    def _parts(self, node: Node) -> list[Node]:
        """A definition, with the other places of one that is declared apart."""
        language = self._graph.resolved.languages.get(node.path, "")
        symbol = self._graph.symbols(node.path)[node.symbol]
        if symbol.kind in CALLABLE and language and language_info(language).declared_apart:
            with suppress(HandleError):
                return self._targets.find(self._targets.handle(node)).nodes
        return [node]


# The definitions that most files use: chosen by names, which is quick, then counted by edges.

CANDIDATES = 30
"""Names of which users are counted; of these the `SHOWN` most used are told."""
SHOWN = 10
_NAMESAKES = 3
"""Definitions of one name in one file that are counted: a class, and the function that makes it."""
_LEAST_USERS = 2


def candidates(
    targets: Targets,
    ranked: Ranked,
    scores: Sequence[float],
    allowed: Collection[int] | None,
    most: int,
) -> tuple[list[Node], int]:
    """Definitions whose names most files hold, by that; and how many names there are beyond them.

    Args:
        targets: names of the nodes.
        ranked: the files.
        scores: weight of each.
        allowed: numbers of the files to choose from; None: all that are no tests or the like.
        most: names at most.
    """
    best = sorted(
        (-count, -scores[at], ranked.sources[at].path, name)
        for (at, name), count in ranked.links.users.items()
        if count >= _LEAST_USERS
        and not ranked.roles.get(ranked.sources[at].path)
        and (allowed is None or at in allowed)
    )
    nodes: list[Node] = []
    for _, _, path, name in best[:most]:
        same = [
            Node(path, at)
            for at, symbol in enumerate(targets.symbols(path))
            if symbol.parent < 0 and symbol.name == name and symbol.kind != "module"
        ]
        nodes += same[:_NAMESAKES]
    return nodes, max(len(best) - most, 0)


def most_used(targets: Targets, users: UserCounts, nodes: Sequence[Node]) -> Iterator[MapSymbol]:
    """Those of the candidates that several files use, the most used first; of equals the first."""
    counted = [(users.of(node), node) for node in nodes]
    order = sorted(range(len(counted)), key=lambda at: (-counted[at][0].files, at))
    for at in order:
        count, node = counted[at]
        if count.files >= _LEAST_USERS or not count.complete:
            yield MapSymbol(targets.node(node), 0, count.files, not count.complete)
