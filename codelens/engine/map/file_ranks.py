"""What the map is ranked by, kept over the states of a view: an edit costs what it touches.

Of a large repository not all is read in the time of one question: then those files are ranked
that are known, the others are counted, and the next question goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, cast

from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.map.ranked_files import Ranked
from codelens.rank.links.file_links import Linking, Links, Source, relinked
from codelens.resolve.facts.file_model import CALLABLE, TYPES
from codelens.resolve.modules.importer import Importer
from codelens.store.facts import name_uses, ranking_reads
from codelens.store.facts.contents import Content
from codelens.store.facts.ranking_reads import Top
from codelens.store.views.snapshot import Snapshot
from codelens.types import Import

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
            for content, rows in name_uses.imports(snapshot.db, tops)
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
        return name_uses.counts(view.snapshot.db, contents)

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
