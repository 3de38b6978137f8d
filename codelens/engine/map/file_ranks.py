"""Ranks files and definitions for the map by how many files use them, and caches the ranks."""

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
    """The part of the map that does not depend on focus and budget; cached with the view."""

    sources: list[Source]
    roles: dict[bytes, str]
    links: Links
    about: dict[int, Content]
    bodies: dict[int, int]
    """Content -> number of functions and types that it defines."""
    left_out: int
    unread: int = 0
    """Number of files whose definitions were not read yet."""
    unlinked: int = 0
    """Number of ranked files whose uses were not read yet."""


# Facts for the ranking, cached over the states of a view: an edit costs only what it changes.
#
# A large repository cannot be read in the time of one call: then the files read so far are ranked,
# the others are counted, and the next call continues.

_MOST_FILES = 20_000
"""Maximum number of ranked files; tests and third-party code are dropped first."""
_MOST_GONE = 5_000
"""Number of cached contents of earlier states."""
_BATCH = 1_000
"""Contents read between two checks of the time: about 0.1 s of C."""


class _Facts(NamedTuple):
    """The ranked facts of one content."""

    top: Top
    imports: tuple[Import, ...]


class _RankCache:
    """Facts of a view's files, for its recent states."""

    def __init__(self) -> None:
        self.facts: dict[int, _Facts | None] = {}
        """None for a content without definitions."""
        self.about: dict[int, Content] = {}
        self.roles: dict[bytes, str] = {}
        self.ranked: Ranked | None = None
        """The ranks of the last state that was read and linked completely."""
        self.importer: Importer | None = None
        """The state that `ranked` is for."""
        self.linking: Linking | None = None
        """Links of a state for which time ran out."""

    def read(self, snapshot: Snapshot, spent: Callable[[], bool]) -> int:
        """Read new contents as time allows; returns the number of files that are left."""
        if len(self.about) > len(snapshot.by_content) + _MOST_GONE:
            self.about.clear()
            self.facts.clear()
        self.about.update(
            snapshot.about(
                [content for content in snapshot.by_content if content not in self.about]
            )
        )
        unseen = [file.path_id for file in snapshot.files if file.path not in self.roles]
        # Manifests and build files name the ways into a project.
        self.roles.update(
            (path_fact.path, path_fact.role if path_fact.role != "tooling" else "")
            for path_fact in snapshot.path_facts(unseen).values()
        )
        new = self._unread(snapshot)
        for start in range(0, len(new), _BATCH):
            if start and spent():
                return sum(len(snapshot.by_content[content]) for content in new[start:])
            self._take(snapshot, new[start : start + _BATCH])
        return 0

    def _unread(self, snapshot: Snapshot) -> list[int]:
        """Contents to read: the project's code first, and what is nearest to the root."""
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
    """The files of a view as ranked by the map, for any focus and budget.

    When the graph's time is used up, ranks only the files read so far; `unread` and `unlinked`
    count the others.
    """
    # Removed while it changes: an interrupted call leaves no half-updated cache.
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
    """The files to rank, by path, and how many are left out."""
    facts, roles, languages = stored.facts, stored.roles, graph.resolved.languages
    chosen = [
        (bool(roles.get(file.path)), file.path, content_facts)
        for file in snapshot.files
        if file.content is not None
        and (content_facts := facts.get(file.content)) is not None
        and content_facts.top.is_code
    ]
    chosen.sort(key=lambda row: row[:2])
    before = {source.path: source for source in _before(stored)}
    by_path = snapshot.by_path
    sources: list[Source] = []
    for _, path, content_facts in sorted(chosen[:_MOST_FILES], key=lambda row: row[1]):
        old, content = before.get(path), cast("int", by_path[path].content)
        if old is not None and old.content == content and old.language == languages[path]:
            sources.append(old)
        else:
            sources.append(
                Source(
                    path, content, languages[path], content_facts.top.names, content_facts.imports
                )
            )
    return sources, max(len(chosen) - _MOST_FILES, 0)


def _before(stored: _RankCache) -> Iterable[Source]:
    if stored.linking is not None:
        return stored.linking.sources
    return stored.ranked.sources if stored.ranked is not None else ()


def _links(
    view: CurrentView, graph: LazyGraph, stored: _RankCache, sources: list[Source]
) -> tuple[Links, int]:
    """Which files use which, and how many files were not read yet."""
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


# Counts the files that use a definition, by the resolved edges that `related` reports.
#
# Names alone would count uses of other definitions with the same name. Resolving takes time: a
# definition whose uses are not all resolved in time is reported as partly counted.

_SHARE, _LEAST_SECONDS, _MOST_SECONDS = 0.1, 0.5, 3.0
"""Share and limits of a call's time for counting."""

_NO_USES = frozenset({"import", "satisfy", "override"})
"""Kinds of edges that name a definition without using it."""


class Users(NamedTuple):
    """The number of files that use a definition, without its own."""

    files: int
    complete: bool
    """Whether all files with its name are resolved; otherwise there may be more."""


class UserCounts(Protocol):
    """Returns how many files use a definition."""

    def of(self, node: Node) -> Users:
        """The users of a definition."""
        ...


class NamedUsers:
    """Counts by names only: fast, but too high if several definitions share a name."""

    def __init__(self, targets: Targets, ranked: Ranked) -> None:
        self._targets = targets
        self._users = ranked.links.users
        self._numbers = {source.path: at for at, source in enumerate(ranked.sources)}

    def of(self, node: Node) -> Users:
        """The files that contain the name of a definition."""
        name = self._targets.symbols(node.path)[node.symbol].name
        return Users(self._users[self._numbers[node.path], name], complete=True)


class DefinitionUsers:
    """Counts for one state of a view; its database must be in a read transaction.

    Args:
        view: the view.
        seconds: the time of the call.
    """

    def __init__(self, view: CurrentView, seconds: float) -> None:
        self._graph = LazyGraph(view, min(max(seconds * _SHARE, _LEAST_SECONDS), _MOST_SECONDS))
        self._targets = Targets(view, self._graph)
        counted = self._graph.values.setdefault("map users", {})
        self._counted = cast("dict[Node, Users]", counted)
        self._is_read = view.refreshed.status == "fresh"
        """Whether all files are read; otherwise others may use a definition, too."""
        self.incomplete: set[Node] = set()
        """Requested definitions that are not counted completely."""

    def look_up(self, nodes: Iterable[Node]) -> None:
        """Resolve the possible uses of some definitions at once, as time allows."""
        new = [node for node in nodes if node not in self._counted]
        self._graph.prepare([part for node in new for part in self._parts(node)])

    def of(self, node: Node) -> Users:
        """The users of a definition, as far as there is time to resolve them."""
        counted_users = self._counted.get(node)
        if counted_users is not None:
            return counted_users
        parts = self._parts(node)
        self._graph.prepare(parts)
        complete = self._is_read and all(self._graph.knows_users(*part) for part in parts)
        # An import alone is not a use: it may name a class or a function. A type that satisfies an
        # interface does not name it, so counting it would depend on which files are resolved.
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
        """A definition, with its other places if it is declared separately."""
        language = self._graph.resolved.languages.get(node.path, "")
        symbol = self._graph.symbols(node.path)[node.symbol]
        if symbol.kind in CALLABLE and language and language_info(language).declared_apart:
            with suppress(HandleError):
                return self._targets.find(self._targets.handle(node)).nodes
        return [node]


# Finds the most used definitions: preselects them by name, which is fast, then counts by edges.

CANDIDATES = 30
"""Number of names whose users are counted; the `SHOWN` most used are shown."""
SHOWN = 10
_NAMESAKES = 3
"""Definitions of one name in one file that are counted: a class, and its factory function."""
_LEAST_USERS = 2


def candidates(
    targets: Targets,
    ranked: Ranked,
    scores: Sequence[float],
    allowed: Collection[int] | None,
    most: int,
) -> tuple[list[Node], int]:
    """Definitions whose names most files contain, in that order; and the number of further names.

    Args:
        targets: names of the nodes.
        ranked: the files.
        scores: the weight of each file.
        allowed: numbers of the files to choose from; None: all except for tests and the like.
        most: maximum number of names.
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
    """The candidates that several files use, the most used first; ties keep their order.

    Incompletely counted candidates come last, in their own order: a partial count cannot be
    compared with a complete one.
    """
    counted = [(users.of(node), node) for node in nodes]

    def key(at: int) -> tuple[bool, int, int]:
        files, complete = counted[at][0]
        return not complete, -files if complete else 0, at

    order = sorted(range(len(counted)), key=key)
    for at in order:
        count, node = counted[at]
        if count.files >= _LEAST_USERS or not count.complete:
            yield MapSymbol(targets.node(node), 0, count.files, not count.complete)
