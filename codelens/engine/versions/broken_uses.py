"""Finds the uses that a comparison breaks: those that were not changed with their definition.

Users of a deleted, renamed or moved definition come from the old side's graph, if their lines are
unchanged on the new side and resolve to nothing there; for a renamed file, imports of the file and
of its definitions count. Users of a definition whose new signature rejects the old calls come from
the new side's graph, if their lines were not changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from codelens.answers.branch_answers import BrokenUse
from codelens.branches.definition_diff import DefinitionChange
from codelens.branches.definition_matcher import ADDED, MOVED, REMOVED, RENAMED, SIGNATURE
from codelens.branches.file_definitions import Definition, FileDefinitions
from codelens.branches.parameters import breaks_calls
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph, WorkLimit
from codelens.engine.graph.possible_uses import hidden_notes, unresolved
from codelens.engine.graph.targets import Targets
from codelens.engine.impact.called_tests import TestFiles
from codelens.engine.versions.diff_query import Compared
from codelens.index.ingestion import path_facts
from codelens.paths import printed
from codelens.resolve.edges import Edge
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.resolve.walk.reach import reach
from codelens.scope.text_diff import LineChange, changed_lines, new_line
from codelens.store.views.views import OVERSIZED
from codelens.wording import count_of, first_of

MOST_ASKED = 300
"""Maximum number of definitions whose users are searched; the rest is counted."""
_COMMON = 150
_MOST_INDEXED = 10
"""Without a time limit from the caller, skip names that occur in more files than this: `_COMMON`
counts all files, `_MOST_INDEXED` those that differ."""
_SHOWN = 3
_MORE_TIME = "with more time"
_DEPTH = 2
_SHARE_OF_TESTS = 0.4
"""Share of the time for tests: a deleted method named `from` would use all of it."""
_KNOWN_TIMES = 2
"""Multiple of the time for uses after which even uses from resolved files are not followed."""
_GONE = frozenset({REMOVED, RENAMED, MOVED})
T = TypeVar("T")
_WORDS = re.compile(rb"\w+")
FEW_WORDS = 60
"""More words are found faster in the set of all words of a text."""
_KINDS = frozenset({"call", "ref", "inherit", "import"})


class Meaning(NamedTuple):
    """The effect of a comparison."""

    broken: tuple[BrokenUse, ...]
    tests: tuple[str, ...]
    at_least: bool
    notes: tuple[str, ...]


class Users:
    """Finds users in the graphs of both sides.

    Args:
        compared: the comparison.
        new: a view of the new side; its database must be in a read transaction.
        old: a view of the old side; None if it is not needed or not available.
        needed: files that differ which the old view should have.
        limit: for resolving files.
        in_haste: leave out names that many files have.
    """

    def __init__(
        self, compared: Compared, new: CurrentView, old: CurrentView | None,
        needed: frozenset[bytes], limit: WorkLimit, *, in_haste: bool,
    ) -> None:  # fmt: skip
        self._in_haste = in_haste
        self._limit, self._needed = limit, needed
        self._seconds_for_tests = limit.reserve(_SHARE_OF_TESTS)
        self._compared = compared
        self._view = new
        self._graph = LazyGraph(new, limit)
        self._old = old
        self._old_graph = LazyGraph(old, limit) if old is not None else None
        self._pairs = {pair.old.path: pair for pair in compared.diff.matches.pairs}
        self._old_path = {pair.new.path: path for path, pair in self._pairs.items()}
        self._hunks: dict[bytes, Sequence[LineChange]] = {}
        self._broken_paths: set[bytes] = set()
        self._notes: list[str] = []

    def meaning(self) -> Meaning:
        """The broken uses, the worst first, and the tests to run."""
        changes, notes = self._with_users(), self._notes
        broken: list[BrokenUse] = []
        for at, change in enumerate(changes):
            if at and self._has_no_time():
                notes.append(
                    f"at least: there was no time for uses of {len(changes) - at:,} of "
                    f"{count_of(len(changes), 'definition')} that may break them; ask {_MORE_TIME}"
                )
                break
            use = self._of_gone(change) if _GONE & set(change.how) else self._of_signature(change)
            if use is not None:
                broken.append(use)
        broken += self._of_renamed_files(MOST_ASKED - len(changes))
        nodes = [
            Node(change.new.file.path, change.new.at)
            for change in changes
            if change.new is not None
        ]
        if not self._has_no_time():
            notes += _hidden(self._view, self._graph, nodes)
        gone = [
            Node(change.old.file.path, change.old.at)
            for change in changes
            if change.old is not None and self._was_read(change.old)
        ]
        if self._old is not None and self._old_graph is not None and not self._has_no_time():
            where = f" at {self._compared.old.name}"
            notes += _hidden(self._old, self._old_graph, gone, where)
        broken.sort(key=lambda use: (not use.certain, use.handle))
        self._limit.extend(self._seconds_for_tests)
        tests = tuple(self._tests())
        notes += self._late_notes()
        partial = self._graph.receipt().status != "fresh"
        return Meaning(tuple(broken), tests, bool(notes) or partial, tuple(dict.fromkeys(notes)))

    def _has_no_time(self) -> bool:
        """Whether the time for uses from resolved files is over, too."""
        return self._limit.is_past(_KNOWN_TIMES) and self._graph.spent()

    def _late_notes(self) -> list[str]:
        """Notes on uses that were skipped for lack of time, and how to get them."""
        notes: list[str] = []
        more = f"ask again to continue, or {_MORE_TIME}"
        if unread := self._view.refreshed.unread:
            files = count_of(unread, "file")
            notes.append(f"at least: uses and tests in {files} are not indexed yet; {more}")
        graphs = [self._graph, *([self._old_graph] if self._old_graph is not None else [])]
        unseen = set[bytes]().union(*(graph.unseen for graph in graphs))
        if unseen:
            files = count_of(len(unseen), "file")
            notes.append(f"at least: uses of what changed in {files} were not followed; {more}")
        elif any(graph.is_stopped for graph in graphs):
            notes.append(f"at least: not all uses of what changed were followed; {more}")
        pending = self._old.refreshed.pending if self._old is not None else ()
        if missing := len(self._changed_or_needed(pending)):
            files = count_of(missing, "file")
            name = self._compared.old.name
            # Without a time limit from the caller, only needed files are read.
            more = f"ask {_MORE_TIME}" if self._in_haste else more
            notes.append(f"at least: {files} at {name} are not indexed yet; {more}")
        return notes

    def _changed_or_needed(self, pending: Iterable[bytes]) -> set[bytes]:
        """The pending files of the old side that may use what changed.

        A file that differs counts if it is in `needed`. One that does not differ counts unless the
        new side cannot read it, either.
        """
        matches, files = self._compared.diff.matches, self._view.snapshot.by_path
        changed = self._pairs.keys() | {file.path for file in matches.removed_files}
        changed |= {path for path, file in files.items() if file.state == OVERSIZED}
        return {path for path in pending if path in self._needed or path not in changed}

    def _was_read(self, old: Definition) -> bool:
        """Whether the old side's view had time to read the file of a definition."""
        graph = self._old_graph
        return graph is not None and old.at < len(graph.symbols(old.file.path))

    def _with_users(self) -> Sequence[DefinitionChange]:
        every = [
            change
            for change in changes_of(self._compared)
            if takes_away(change) or _redeclared(change)
        ]
        changes = self._first(every, MOST_ASKED, "uses")
        names = {change.definition.name for change in changes}
        self._graph.holding(names)
        spread = {name: len(self._graph.naming(name)) for name in names}
        common = [name for name in sorted(names) if spread[name] > _COMMON]
        if common and self._in_haste:
            changes = [change for change in changes if change.definition.name not in common]
            self._notes.append(
                f"at least: uses of {first_of(common, _SHOWN)} were not searched, because more "
                f"than {_COMMON} files have the name; ask {_MORE_TIME}"
            )
        # The time suffices to follow many rare names, or one that every file contains.
        return sorted(changes, key=lambda change: spread[change.definition.name])

    def _first(self, every: Sequence[T], most: int, subject: str) -> Sequence[T]:
        """The first definitions, which are searched; add a note with the number of the rest."""
        if len(every) > most:
            of_all = count_of(len(every), "definition")
            self._notes.append(
                f"at least: {subject} were searched for the first {most} of {of_all}"
            )
        return every[:most]

    def _of_gone(self, change: DefinitionChange) -> BrokenUse | None:
        old = change.old
        if old is None or self._old_graph is None or not self._was_read(old):
            return None
        edges = [
            edge
            for edge in self._old_graph.edges_to(old.file.path, old.at)
            if edge.kind in _KINDS and not _inside(old, edge.source, edge.line)
        ]
        sites = self._unresolved_sites(edges)
        how = next(how for how in (REMOVED, RENAMED, MOVED) if how in change.how)
        now = self._compared.names.handle(change.new, old=False) if change.new is not None else ""
        users = len({(edge.source, edge.line) for edge in edges})
        return self._broken(how, self._compared.names.handle(old, old=True), now, sites, users)

    def _unresolved_sites(self, edges: Iterable[Edge]) -> list[tuple[bytes, int]]:
        """The unchanged lines of old uses that resolve to nothing on the new side."""
        sites: dict[tuple[bytes, int], None] = {}
        for edge in edges:
            place = self._new_position(edge.source, edge.line)
            if place is not None and not self._resolves(*place, edge.name):
                sites[place] = None
        return list(sites)

    def _of_renamed_files(self, most: int) -> Iterator[BrokenUse]:
        """Imports that still name the old path, for at most `most` definitions."""
        graph = self._old_graph
        if graph is None:
            return
        for old, new in renamed_files(self._compared):
            tops = [at for at, symbol in enumerate(old.text.symbols) if symbol.parent < 0]
            nodes = self._first([MODULE, *tops], max(most, 0), f"imports of {printed(old.path)}")
            most -= len(nodes)
            edges = [
                edge
                for at in nodes
                for edge in graph.edges_to(old.path, at)
                if edge.kind == "import" and edge.source != old.path
            ]
            users = len({(edge.source, edge.line) for edge in edges})
            names = self._compared.names
            handles = names.file(old.path, old=True), names.file(new.path, old=False)
            use = self._broken(RENAMED, *handles, self._unresolved_sites(edges), users)
            if use is not None:
                yield use

    def _of_signature(self, change: DefinitionChange) -> BrokenUse | None:
        new = change.new
        assert new is not None
        edges = [
            edge
            for edge in self._graph.edges_to(new.file.path, new.at)
            if edge.kind == "call" and not _inside(new, edge.source, edge.line)
        ]
        sites = {
            (edge.source, edge.line): None
            for edge in edges
            if not self._is_changed(edge.source, edge.line)
        }
        users = len({(edge.source, edge.line) for edge in edges})
        handle = self._compared.names.handle(new, old=False)
        return self._broken(SIGNATURE, handle, "", sites, users)

    def _broken(
        self,
        how: str,
        handle: str,
        now: str,
        sites: Iterable[tuple[bytes, int]],
        users: int,
    ) -> BrokenUse | None:
        places = sorted(sites)
        if not places:
            return None
        self._broken_paths.update(path for path, _ in places)
        shown = tuple(f"{printed(path)}:{line}" for path, line in places)
        return BrokenUse(how, handle, now, shown, len(places), True, users)

    def _resolves(self, path: bytes, line: int, name: str) -> bool:
        """Whether a use resolves on the new side."""
        if not self._graph.resolve([path]):
            return True  # Not resolved in time, so not reported.
        table = self._graph.table()
        if line not in table.lines(path, name):
            return False
        edges = [edge for edge in table.edges_from(path) if (edge.line, edge.name) == (line, name)]
        return not all(_leads_to_module_alone(edge) for edge in edges)

    def _new_position(self, path: bytes, line: int) -> tuple[bytes, int] | None:
        """The new position of an unchanged line of the old side; None if changed or deleted."""
        pair = self._pairs.get(path)
        if pair is None:
            gone = path not in self._view.snapshot.by_path
            return None if gone else (path, line)
        unchanged, place = new_line(self._changed(path), line)
        return (pair.new.path, place) if unchanged else None

    def _is_changed(self, path: bytes, line: int) -> bool:
        """Whether a line of the new side was changed."""
        old = self._old_path.get(path)
        if old is None:
            return any(file.path == path for file in self._compared.diff.matches.added_files)
        return any(
            hunk.new_start <= line < hunk.new_start + hunk.new_lines for hunk in self._changed(old)
        )

    def _changed(self, path: bytes) -> Sequence[LineChange]:
        hunks = self._hunks.get(path)
        if hunks is None:
            pair = self._pairs[path]
            hunks = self._hunks[path] = changed_lines(pair.old.data, pair.new.data)
        return hunks

    def _tests(self) -> Iterator[str]:
        nodes = [
            Node(change.new.file.path, change.new.at)
            for change in changes_of(self._compared)
            if change.new is not None and change.how != (ADDED,)
        ]
        nodes = self._first(nodes, MOST_ASKED, "tests")
        changed = [file.file.path for file in self._compared.diff.files]
        users = reach(self._graph, nodes, _DEPTH, lists_direct=False).users
        files = TestFiles(self._view, self._graph, Targets(self._view, self._graph))
        called = [test_file.path for test_file in files.called_for(nodes, changed, users)]
        broken = filter(self._graph.is_test, sorted(self._broken_paths))
        yield from dict.fromkeys([*map(printed, broken), *called])


def _hidden(
    view: CurrentView, graph: LazyGraph, nodes: Sequence[Node], where: str = ""
) -> list[str]:
    return hidden_notes(
        graph, unresolved(graph, Targets(view, graph), nodes, listed=not where), where=where
    )


def _leads_to_module_alone(edge: Edge) -> bool:
    """Whether an import of a name finds the module that should have it, but not the name.

    If the module itself has that name, the module was imported.
    """
    if edge.kind != "import" or edge.target_symbol >= 0:
        return False
    folder, _, file = edge.target.rpartition(b"/")
    names = (file.partition(b".")[0], folder.rpartition(b"/")[2])
    return edge.name.encode("utf-8", "replace") not in names


def changes_of(compared: Compared) -> Iterator[DefinitionChange]:
    """All definitions that differ, of files that are not folded."""
    for file in compared.diff.files:
        if file.file.text.shown == "text":
            yield from file.definitions


def renamed_files(compared: Compared) -> Iterator[tuple[FileDefinitions, FileDefinitions]]:
    """Files whose path changed, before and after."""
    for file in compared.diff.files:
        old, new = file.old, file.new
        if old is None or new is None or new.text.shown != "text":
            continue
        if old.path != new.path:
            yield old, new


def names_with_broken_uses(compared: Compared) -> set[str]:
    """The names of definitions whose uses the comparison may break."""
    changes = changes_of(compared)
    return {
        change.definition.name for change in changes if takes_away(change) or _redeclared(change)
    }


def takes_something_away(compared: Compared) -> bool:
    """Whether anything was deleted, renamed or moved."""
    changes = changes_of(compared)
    return any(map(takes_away, changes)) or any(True for _ in renamed_files(compared))


def takes_away(change: DefinitionChange) -> bool:
    """Whether a definition was deleted, renamed or moved."""
    old, new = change.old, change.new
    if old is None or old.group == "module":
        return False
    return new is None or bool({RENAMED, MOVED} & set(change.how))


def old_files_needed(compared: Compared, *, in_haste: bool) -> frozenset[bytes]:
    """The old files that differ and lost a definition, were renamed, or contain a lost name.

    No other file that differs can use what was taken away. If `in_haste`, names that most of them
    have do not count: indexing all of them takes longer than the rest of the answer.
    """
    gone = [change.old for change in changes_of(compared) if change.old and takes_away(change)]
    renamed = [old for old, _ in renamed_files(compared)]
    needed = {file.path for file in (*(old.file for old in gone), *renamed)}
    names = {old.name for old in gone}
    names |= {symbol.name for file in renamed for symbol in file.text.symbols if symbol.parent < 0}
    names |= {printed(file.path).rpartition("/")[2].partition(".")[0] for file in renamed}
    words = frozenset(name.encode("utf-8", "replace") for name in names)
    paths_with: dict[bytes, list[bytes]] = {word: [] for word in words}
    for file in compared.diff.files:
        if file.old is None or file.old.path in needed:
            continue
        for word in words_in(file.old.data, words):
            paths_with[word].append(file.old.path)
            if in_haste and len(paths_with[word]) > _MOST_INDEXED:
                del paths_with[word]
                words -= {word}
    return frozenset(needed.union(*paths_with.values()))


def words_in(text: bytes, words: frozenset[bytes]) -> frozenset[bytes]:
    """The words that a text contains."""
    if len(words) > FEW_WORDS:
        return words.intersection(_WORDS.findall(text))
    occurring = (word for word in words if word in text and _WORDS.fullmatch(word))
    return frozenset(word for word in occurring if re.search(rb"\b%s\b" % word, text))


def _redeclared(change: DefinitionChange) -> bool:
    old, new = change.old, change.new
    if old is None or new is None or SIGNATURE not in change.how or new.group != "callable":
        return False
    return bool(breaks_calls(old.symbol.signature, new.symbol.signature, old.name, new.name))


def _inside(definition: Definition, path: bytes, line: int) -> bool:
    return (
        definition.file.path == path
        and definition.symbol.start_line <= line <= definition.symbol.end_line
    )


def public_surface(
    compared: Compared,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Handles of definitions that became visible outside of their file, and that ceased to be.

    Those whose new declaration rejects old calls count as removed.
    """
    added: list[str] = []
    removed: list[str] = []
    for change in changes_of(compared):
        old, new = change.old, change.new
        if (
            change.definition.group == "module"
            or path_facts(change.definition.file.path).role == "test"
        ):
            continue
        if new is not None and new.symbol.exported and change.how == (ADDED,):
            added.append(compared.names.handle(new, old=False))
        if old is not None and old.symbol.exported and (takes_away(change) or _redeclared(change)):
            removed.append(compared.names.handle(old, old=True))
    return tuple(added), tuple(removed)
