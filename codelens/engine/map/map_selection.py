"""Which files, definitions and links of a ranked repository are drawn on a map of a given size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from codelens.answers.graph_answers import MapAnswer, MapEntry, MapFile, MapFolder, MapSymbol
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.targets import Targets
from codelens.engine.map.definition_users import DefinitionUsers, NamedUsers, UserCounts
from codelens.engine.map.entry_points import Entry, entries
from codelens.engine.map.hot_definitions import CANDIDATES, SHOWN, candidates, most_used
from codelens.engine.map.ranked_files import Ranked
from codelens.errors import HandleError
from codelens.extract.language_settings import language_info
from codelens.handles.handle_grammar import file_handle
from codelens.paths import printed
from codelens.render.graph import graph_text
from codelens.render.token_budget import cost_of
from codelens.resolve.facts.file_model import CALLABLE, TYPES
from codelens.resolve.walk.edge_table import Node
from codelens.store.facts import name_uses
from codelens.types import Symbol

_NEARLY_ALL = 0.8
_LEAST_SHARE = 0.005
"""Of the rank, that a folder has before it is told."""
_FOLDERS, _ENTRIES = 12, 8
_USUAL_TOKENS = 4000
"""A map of so many times as many tokens has so many times as many entries of each list."""
_HEAD_SHARE = 0.4
"""Of the budget, at most, for what is said of the whole."""
_SYMBOLS_FIRST, _SYMBOLS_LAST = 8, 4
_MEMBERS, _LEAST_MEMBERS = 4, 2
_LEAST_USERS = 2
"""Files that use a constant before it is shown."""
_HIDDEN = frozenset({"heading", "key"})
_MINOR = frozenset({"constant", "variable", "field", "property", "member"})


class Interest(NamedTuple):
    """Files, names and definitions that the map is drawn near."""

    near: Mapping[bytes, float]
    """Files, with weights."""
    names: tuple[str, ...]
    """What was asked to be near, as written."""
    query_nodes: tuple[Node, ...]
    """What a query finds, best first."""


class Drawing:
    """A map in the making.

    Args:
        view: the view.
        targets: names of its nodes.
        ranked: its files, with who uses whom.
        scores: weight of each file; the sum is 1.
        interest: what it is drawn near.
        users: counts who uses the definitions that are shown.
    """

    def __init__(
        self, view: CurrentView, targets: Targets, ranked: Ranked, scores: Sequence[float],
        interest: Interest, users: DefinitionUsers,
    ) -> None:  # fmt: skip
        self._view = view
        self._targets = targets
        self._ranked = ranked
        self._scores = scores
        self._interest = interest
        self._users = users
        self._counts: UserCounts = users
        self._shown: dict[Node, None] = {}
        self._scale = 1
        # What a query finds leads, whatever uses it.
        first = list(dict.fromkeys(node.path for node in interest.query_nodes))[:_LEADING_FILES]
        leading = {path: at for at, path in enumerate(first)}
        self._order = sorted(
            range(len(scores)),
            key=lambda at: (
                leading.get(ranked.sources[at].path, _LEADING_FILES),
                -scores[at],
                ranked.sources[at].path,
            ),
        )

    def draw(self, max_tokens: int, notes: Sequence[str]) -> MapAnswer:
        """The map whose text costs at most so much; of files one at least.

        Args:
            max_tokens: what it may cost.
            notes: sentences for the answer.
        """
        self._scale = max(max_tokens // _USUAL_TOKENS, 1)
        hot, beyond = self._hot()
        plain = replace(self._without_files(notes), hot_count=beyond)
        # What is shown hangs little on the counts: names tell which definitions are to be counted.
        self._drawn(plain, hot, max_tokens, NamedUsers(self._targets, self._ranked))
        self._users.look_up([*hot, *self._shown])
        return self._drawn(plain, hot, max_tokens, self._users)

    def _without_files(self, notes: Sequence[str]) -> MapAnswer:
        """What is said of the whole, without its most used definitions."""
        root = self._view.scope.root.encode("utf-8", "surrogateescape")
        (folders, weighty), entry_points = self._folders(), self._entries()
        meant = self._interest.query_nodes
        # A large map has the small folders too.
        weighty = min(weighty, _FOLDERS) if self._scale == 1 else _FOLDERS * self._scale
        return MapAnswer(
            receipt=self._view.receipt(),
            name=printed(root).rpartition("/")[2],
            languages=self._languages(),
            folders=tuple(folders[:weighty]),
            entries=tuple(map(self._entry, entry_points[: _ENTRIES * self._scale])),
            hot=(),
            files=(),
            links=(),
            ranked=len(self._ranked.sources),
            focus=self._interest.names,
            meant=tuple(self._targets.node(node) for node in meant[: _QUERY_PLACES * self._scale]),
            notes=tuple(notes),
            folder_count=len(folders),
            entry_count=len(entry_points),
            meant_count=len(meant),
        )

    def _drawn(
        self, plain: MapAnswer, hot: Sequence[Node], max_tokens: int, users: UserCounts
    ) -> MapAnswer:
        """The map with the users that are counted so; `_shown` has what it asked of."""
        self._counts = users
        used, count = tuple(most_used(self._targets, users, hot)), plain.hot_count
        plain = replace(plain, hot=used[: SHOWN * self._scale], hot_count=count + len(used))
        share = _HEAD_SHARE / 2 if self._interest.near else _HEAD_SHARE
        plain = _within(plain, int(max_tokens * share))
        head, _ = graph_text.map_(plain)
        tokens = max_tokens - cost_of("\n".join(head)) - _SPARE_TOKENS
        files = self._files(tokens, self._scale)
        if self._scale > 1 and len(files) < len(self._order):
            files = self._files(tokens, 1)
        drawn_files = self._order[: len(files)]
        return replace(plain, files=tuple(files), links=self._links(drawn_files))

    def _files(self, tokens: int, scale: int) -> list[MapFile]:
        """As many files as fit, the best first, with so many times as many definitions of each."""
        files: list[MapFile] = []
        for place, at in enumerate(self._order):
            if tokens < _LEAST_FILE_TOKENS:
                break
            file = self._file(at, place, tokens, scale)
            cost = cost_of(graph_text.map_file(file)) + 1
            if cost > tokens and files:
                break
            tokens -= cost
            files.append(file)
        return files

    def _file(self, at: int, place: int, tokens: int, scale: int) -> MapFile:
        """A file with its best definitions, fewer of them where there is less room."""
        source = self._ranked.sources[at]
        symbols = self._targets.symbols(source.path)
        most = max(_SYMBOLS_FIRST - place // 3, _SYMBOLS_LAST)
        if source.path in self._interest.near:
            most = _SYMBOLS_FIRST
        most *= scale
        about = self._ranked.about[source.content]
        every = sum(symbol.kind not in _HIDDEN for symbol in symbols)
        while True:
            rows = tuple(
                self._symbol(source.path, number, depth)
                for number, depth in self._chosen(at, symbols, most)
            )
            # Names tell fewer than edges do where a file needs no import to use what is here.
            naming = max((self._ranked.links.importers[at], *(row.users for row in rows)))
            file = MapFile(
                printed(source.path), source.language, about.lines,
                round(self._scores[at] * 100, 3), naming, rows, every - len(rows),
            )  # fmt: skip
            if not most or cost_of(graph_text.map_file(file)) <= tokens:
                return file
            most -= 1

    def _chosen(self, at: int, symbols: Sequence[Symbol], most: int) -> list[tuple[int, int]]:
        """Definitions worth showing with their depth: at the top, and below shown types members."""
        users = self._ranked.links.users
        top: dict[tuple[str, bool], int] = {}
        inside = _modules(symbols)
        for number, symbol in enumerate(symbols):
            minor = symbol.kind in _MINOR and users[at, symbol.name] < _LEAST_USERS
            # A method that stands outside of its type (Go) is shown below that.
            outer = (
                symbol.parent in inside and symbol.kind not in _HIDDEN and symbol.kind != "method"
            )
            if outer and not minor and number not in inside:
                # Of overloads one is enough; a type and the function that makes it are two.
                top.setdefault((symbol.name, symbol.kind in TYPES), number)
        order = sorted(top.values(), key=lambda number: self._worth(at, symbols, number))
        members = {
            number: self._members(symbols, number)
            for number in order[:most]
            if symbols[number].kind in TYPES
        }
        target_count = min(sum(map(len, members.values())), max(_MEMBERS, most // 2))
        best = order[: max(most - target_count, (most + 1) // 2)]
        rows_left = most - len(best)
        below: dict[int, list[int]] = {}
        for owner in best:
            below[owner] = members.get(owner, [])[
                : min(rows_left, max(_LEAST_MEMBERS, rows_left - 1))
            ]
            rows_left -= len(below[owner])
        return [
            row
            for owner in sorted(best)
            for row in ((owner, 0), *((member, 1) for member in sorted(below[owner])))
        ]

    def _members(self, symbols: Sequence[Symbol], owner: int) -> list[int]:
        """The public methods of a type, those first whose name most files use."""
        prefix = f"{symbols[owner].qualified}."
        spread = self._ranked.links.spread
        by_name: dict[str, int] = {}
        for number, symbol in enumerate(symbols):
            mine = symbol.parent == owner or (
                symbol.parent < 0 and symbol.qualified.startswith(prefix)
            )
            if mine and symbol.kind in CALLABLE and not symbol.name.startswith("_"):
                by_name.setdefault(symbol.name, number)
        return sorted(by_name.values(), key=lambda at: (-spread[symbols[at].name], at))

    def _worth(self, at: int, symbols: Sequence[Symbol], number: int) -> tuple[object, ...]:
        symbol = symbols[number]
        users = self._ranked.links.users[at, symbol.name]
        spread = self._ranked.links.spread[symbol.name] if symbol.parent >= 0 else 0
        minor = symbol.kind in _MINOR
        return (-users, not symbol.exported, minor, symbol.name.startswith("_"), -spread, number)

    def _symbol(self, path: bytes, number: int, depth: int) -> MapSymbol:
        graph_node = self._targets.node(Node(path, number))
        if depth:
            return MapSymbol(graph_node, depth, 0)
        self._shown[Node(path, number)] = None
        users = self._counts.of(Node(path, number))
        return MapSymbol(graph_node, depth, users.files, not users.complete)

    def _languages(self) -> tuple[tuple[str, int, int], ...]:
        files: dict[str, list[int]] = {}
        for content, rows in self._view.snapshot.by_content.items():
            about = self._ranked.about.get(content)
            if about is not None and about.language != "text" and about.outcome == "parsed":
                count = files.setdefault(about.language, [0, 0])
                count[0] += len(rows)
                count[1] += about.lines * len(rows)
        rows = [(name, count, lines) for name, (count, lines) in files.items()]
        return tuple(
            sorted(rows, key=lambda row: (language_info(row[0]).no_programs, -row[2], row[0]))
        )

    def _folders(self) -> tuple[list[MapFolder], int]:
        """Folders by their share of the rank, and how many of them have a share that counts.

        One that has nearly all is replaced by those in it.
        """
        groups = self._grouped(b"")
        while True:
            name, row = max(
                groups.items(), key=lambda item: (item[1][2], item[0]), default=(b"", None)
            )
            if row is None or not name or row[2] <= _NEARLY_ALL:
                break
            inner = self._grouped(name)
            if not inner.keys() - {name}:
                break
            del groups[name]
            groups |= inner
            if name in inner:
                # Files right in it: no smaller than they are, and done with.
                break
        ordered = sorted(groups.items(), key=lambda item: (-item[1][2], item[0]))
        weighty = sum(score >= _LEAST_SHARE for _, (_, _, score) in ordered)
        folders = [
            MapFolder(printed(name) or ".", files, lines, round(score * 100, 1))
            for name, (files, lines, score) in ordered
        ]
        return folders, max(weighty, 1)

    def _grouped(self, top: bytes) -> dict[bytes, tuple[int, int, float]]:
        """Files, lines and rank of each folder right in one; what is in none counts for it."""
        by_folder: dict[bytes, tuple[int, int, float]] = {}
        prefix = top + b"/" if top else b""
        for at, source in enumerate(self._ranked.sources):
            if not source.path.startswith(prefix):
                continue
            first, sign, _ = source.path[len(prefix) :].partition(b"/")
            name = prefix + first if sign else top
            files, lines, score = by_folder.get(name, (0, 0, 0.0))
            more = self._ranked.about[source.content].lines
            by_folder[name] = (files + 1, lines + more, score + self._scores[at])
        return by_folder

    def _entries(self) -> list[Entry]:
        ranked, snapshot = self._ranked, self._view.snapshot
        project_sources = {
            source.path: source for source in ranked.sources if not ranked.roles.get(source.path)
        }
        files = {
            path: project_sources[path].language if path in project_sources else ""
            for path in snapshot.by_path
            if not ranked.roles.get(path)
        }
        defined = {path: source.defined for path, source in project_sources.items()}

        def read(path: bytes) -> bytes | None:
            return self._view.read(snapshot.by_path[path])

        return entries(files, defined, read)

    def _entry(self, entry: Entry) -> MapEntry:
        handle = file_handle(entry.path, self._targets.ref)
        if entry.symbol:
            # A manifest may name what is made at run time: then the file will do.
            with suppress(HandleError):
                handle = self._targets.find(f"{handle}#{entry.symbol}").node.handle
        gives = "" if entry.symbol else self._reexports(entry.path)
        return MapEntry(entry.name, handle, f"{entry.why}{gives}")

    def _reexports(self, path: bytes) -> str:
        """What a package's file hands on from its own folder; most used first."""
        content = self._view.snapshot.by_path[path].content
        read = name_uses.imports(self._view.snapshot.db, [content] if content is not None else [])
        names = {
            alias or name: None
            for _, rows in read
            for module, name, alias, _ in rows
            if module.startswith(".") and name not in {"", "*", "default"}
        }
        spread = self._ranked.links.spread
        public_names = sorted(
            (name for name in names if not name.startswith("_")), key=lambda path: -spread[path]
        )
        if not public_names:
            return ""
        left = len(public_names) - _MOST_REEXPORTS
        more = f" and {left} more" if left > 0 else ""
        return f"; gives {', '.join(public_names[:_MOST_REEXPORTS])}{more}"

    def _hot(self) -> tuple[list[Node], int]:
        """Definitions that may be used by the most files; near a focus those of what ranks."""
        allowed = set(self._order[:_NEAR_FILES]) if self._interest.near else None
        return candidates(
            self._targets, self._ranked, self._scores, allowed, CANDIDATES * self._scale
        )

    def _links(self, drawn_files: Sequence[int]) -> tuple[tuple[str, str, int], ...]:
        """Among the files shown, the heaviest first."""
        sources, inside = self._ranked.sources, set(drawn_files)
        rows = [
            (-weight, sources[at].path, sources[target].path)
            for at in drawn_files
            for target, weight in self._ranked.links.weights[at].items()
            if target in inside
        ]
        return tuple(
            (printed(source), printed(target), max(round(-weight), 1))
            for weight, source, target in sorted(rows)
        )


_SPARE_TOKENS = 40
_LEAST_FILE_TOKENS = 12
_NEAR_FILES = 12
_LEADING_FILES, _QUERY_PLACES = 3, 5
"""Of what a query finds: files that come first, and places that are named."""
_MOST_REEXPORTS = 12


def _modules(symbols: Sequence[Symbol]) -> set[int]:
    """The modules and namespaces around what a file defines, and -1 for the file itself."""
    ordinals = {-1}
    filled = {symbol.parent for symbol in symbols}
    for number, symbol in enumerate(symbols):
        if symbol.kind == "module" and symbol.parent in ordinals and number in filled:
            ordinals.add(number)
    return ordinals


def _within(answer: MapAnswer, tokens: int) -> MapAnswer:
    """Without the last of what is said of the whole, until it fits."""
    while cost_of("\n".join(graph_text.map_(answer)[0])) > tokens:
        lists = {name: getattr(answer, name) for name in ("hot", "folders", "entries")}
        name = max(lists, key=lambda name: len(lists[name])) if any(lists.values()) else "meant"
        if not getattr(answer, name):
            break
        answer = replace(answer, **{name: getattr(answer, name)[:-1]})
    return answer
