"""What the map is ranked by, kept over the states of a view: an edit costs what it touches."""

from __future__ import annotations

from typing import NamedTuple, cast

from codelens.engine.graphs import LazyNet
from codelens.engine.look import Look
from codelens.engine.map_drawing import Ranked
from codelens.rank.maplinks import Links, Source, linked, relinked
from codelens.resolve.importer import Importer
from codelens.resolve.model import CALLABLE, TYPES
from codelens.store import rankreads, uses
from codelens.store.contents import Content
from codelens.store.snapshot import Snapshot
from codelens.types import Import

_MOST_FILES = 20_000
"""Files that are ranked; of more, tests and what others wrote go first."""
_HEADINGS = frozenset({"heading", "key"})
_MOST_GONE = 5_000
"""Contents of earlier states that are remembered."""


class _Facts(NamedTuple):
    """What is ranked of one content."""

    defined: frozenset[str]
    """Names of its top-level definitions."""
    shown: bool
    """It defines more than headings."""
    bodies: int
    """How many functions and types it defines."""
    imports: tuple[Import, ...]


class _Kept:
    """All that is known of a view's files, of the states that were asked about."""

    def __init__(self) -> None:
        self.facts: dict[int, _Facts] = {}
        self.about: dict[int, Content] = {}
        self.roles: dict[bytes, str] = {}
        self.ranked: Ranked | None = None
        self.importer: Importer | None = None

    def read(self, snapshot: Snapshot) -> None:
        """Read what is not known yet."""
        if len(self.about) > len(snapshot.by_content) + _MOST_GONE:
            self.about.clear()
            self.facts.clear()
        new = [content for content in snapshot.by_content if content not in self.about]
        self.about.update(snapshot.about(new))
        definitions = rankreads.definitions(snapshot.db, new)
        imported = {
            content: tuple(Import(row[0], row[1], row[2], int(row[3])) for row in rows)
            for content, rows in uses.imports(snapshot.db, definitions)
        }
        for content, rows in definitions.items():
            self.facts[content] = _Facts(
                # A method that stands outside of its type (Go) is no name of its own.
                frozenset(
                    one.name
                    for one in rows
                    if one.parent < 0 and one.kind not in {"heading", "key", "method"}
                ),
                any(one.kind not in _HEADINGS for one in rows),
                sum(one.kind in CALLABLE or one.kind in TYPES for one in rows),
                imported.get(content, ()),
            )
        unseen = [one.path_id for one in snapshot.files if one.path not in self.roles]
        self.roles.update((one.path, one.role) for one in snapshot.path_facts(unseen).values())


def ranked(look: Look, net: LazyNet) -> Ranked:
    """The files of a view as the map ranks them, for any focus and budget."""
    # Taken out while it changes: a question that is broken off leaves nothing half done.
    kept = cast("_Kept", net.lasting.pop("map", None) or _Kept())
    kept.read(look.snapshot)
    sources, left_out = _sources(look.snapshot, net, kept)
    bodies = {content: facts.bodies for content, facts in kept.facts.items()}
    links = _links(look, net, kept, sources)
    kept.importer = net.graph.importer
    kept.ranked = Ranked(sources, kept.roles, links, kept.about, bodies, left_out)
    net.lasting["map"] = kept
    return kept.ranked


def _sources(snapshot: Snapshot, net: LazyNet, kept: _Kept) -> tuple[list[Source], int]:
    """The files to be ranked, by path, and how many are left out."""
    facts, roles, languages = kept.facts, kept.roles, net.graph.languages
    chosen = [
        (bool(roles.get(file.path)), file.path, file.content)
        for file in snapshot.files
        if file.content in facts and facts[file.content].shown
    ]
    chosen.sort()
    before = {one.path: one for one in kept.ranked.sources} if kept.ranked is not None else {}
    found: list[Source] = []
    for _, path, content in sorted(chosen[:_MOST_FILES], key=lambda one: one[1]):
        old = before.get(path)
        if old is not None and old.content == content and old.language == languages[path]:
            found.append(old)
        else:
            one = facts[content]
            found.append(Source(path, content, languages[path], one.defined, one.imports))
    return found, max(len(chosen) - _MOST_FILES, 0)


def _links(look: Look, net: LazyNet, kept: _Kept, sources: list[Source]) -> Links:
    db, importer, before = look.snapshot.db, net.graph.importer, kept.ranked
    if (
        before is not None
        and kept.importer is importer
        and [one.path for one in before.sources] == [one.path for one in sources]
        and relinked(
            before.links,
            before.sources,
            sources,
            importer,
            lambda some: uses.counts(db, some),
            lambda names: {path for path, _ in net.holding(names)},
        )
    ):
        return before.links
    return linked(sources, importer, uses.counts(db, sorted({one.content for one in sources})))
