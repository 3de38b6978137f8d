"""Answers `map`: ranks the files of a repository and draws the best within a token budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import sqrt
from typing import NamedTuple, cast

from codelens.answers.graph_answers import MapAnswer, MapEntry, MapFile, MapFolder, MapSymbol
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.targets import Targets
from codelens.engine.map.entry_points import Entry, entries
from codelens.engine.map.file_ranks import (
    CANDIDATES,
    SHOWN,
    DefinitionUsers,
    NamedUsers,
    Ranked,
    UserCounts,
    candidates,
    most_used,
)
from codelens.engine.map.file_ranks import ranked as ranks_of
from codelens.errors import HandleError, InvalidArgument
from codelens.extract.language_settings import language_info
from codelens.handles.handle_grammar import file_handle, typed_handle
from codelens.paths import printed
from codelens.rank.file_links import pagerank
from codelens.rank.search_pipeline import Request, search
from codelens.render import graph_text
from codelens.render.token_budget import cost_of
from codelens.resolve.file_model import CALLABLE, TYPES
from codelens.resolve.walk.edge_table import Node
from codelens.store.facts import ranking_reads
from codelens.types import Symbol
from codelens.wording import count_of, some_of

_NEARLY_ALL = 0.8
_LEAST_SHARE = 0.005
"""Minimum share of the rank for a folder to be shown."""
_FOLDERS, _ENTRIES = 12, 8
_USUAL_TOKENS = 4000
"""A map with N times as many tokens has N times as many entries in each list."""
_HEAD_SHARE = 0.4
"""Maximum share of the budget for the overview."""
_SYMBOLS_FIRST, _SYMBOLS_LAST = 8, 4
_MEMBERS, _LEAST_MEMBERS = 4, 2
_LEAST_USERS = 2
"""Minimum number of users of a constant that is shown."""
_HIDDEN = frozenset({"heading", "key"})
_MINOR = frozenset({"constant", "variable", "field", "property", "member"})


class Interest(NamedTuple):
    """The focus of the map: files, names and definitions."""

    near: Mapping[bytes, float]
    """Files, with weights."""
    names: tuple[str, ...]
    """The focus as the caller wrote it."""
    query_nodes: tuple[Node, ...]
    """The results of the query, best first."""


class Drawing:
    """Draws a map.

    Args:
        view: the view.
        targets: names of its nodes.
        ranked: its files, with who uses whom.
        scores: the weight of each file; the sum is 1.
        interest: the focus.
        users: counts the users of the definitions that are shown.
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
        # Results of the query come first, regardless of their users.
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
        """The map with a text of at most `max_tokens`, with at least one file.

        Args:
            max_tokens: maximum cost.
            notes: sentences for the answer.
        """
        self._scale = max(max_tokens // _USUAL_TOKENS, 1)
        hot, beyond = self._hot()
        plain = replace(self._without_files(notes), hot_count=beyond)
        # A first drawing, with fast counts by name, shows which definitions need exact counts.
        self._drawn(plain, hot, max_tokens, NamedUsers(self._targets, self._ranked))
        self._users.look_up([*hot, *self._shown])
        return self._drawn(plain, hot, max_tokens, self._users)

    def _without_files(self, notes: Sequence[str]) -> MapAnswer:
        """The overview, without its most used definitions."""
        root = self._view.scope.root.encode("utf-8", "surrogateescape")
        (folders, weighty), entry_points = self._folders(), self._entries()
        query_nodes = self._interest.query_nodes
        # A large map includes the small folders.
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
            meant=tuple(
                self._targets.node(node) for node in query_nodes[: _QUERY_PLACES * self._scale]
            ),
            notes=tuple(notes),
            folder_count=len(folders),
            entry_count=len(entry_points),
            meant_count=len(query_nodes),
        )

    def _drawn(
        self, plain: MapAnswer, hot: Sequence[Node], max_tokens: int, users: UserCounts
    ) -> MapAnswer:
        """The map with the given user counts; `_shown` records the definitions looked up."""
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
        """As many files as fit, the best first, with `scale` times as many definitions of each."""
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
        """A file with its best definitions, fewer if there is less room."""
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
            # Names are less reliable than edges where using a file requires no import.
            naming = max((self._ranked.links.importers[at], *(row.users for row in rows)))
            file = MapFile(
                printed(source.path), source.language, about.lines,
                round(self._scores[at] * 100, 3), naming, rows, every - len(rows),
            )  # fmt: skip
            if not most or cost_of(graph_text.map_file(file)) <= tokens:
                return file
            most -= 1

    def _chosen(self, at: int, symbols: Sequence[Symbol], most: int) -> list[tuple[int, int]]:
        """Definitions worth showing, with their depth: top-level ones, members of shown types."""
        users = self._ranked.links.users
        top: dict[tuple[str, bool], int] = {}
        inside = _modules(symbols)
        for number, symbol in enumerate(symbols):
            minor = symbol.kind in _MINOR and users[at, symbol.name] < _LEAST_USERS
            # A method outside of its type (Go) is shown below the type.
            outer = (
                symbol.parent in inside and symbol.kind not in _HIDDEN and symbol.kind != "method"
            )
            if outer and not minor and number not in inside:
                # One of several overloads suffices; a type and its factory function are two.
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
        """The public methods of a type, those with the most used names first."""
        prefix = f"{symbols[owner].qualified}."
        spread = self._ranked.links.spread
        by_name: dict[str, int] = {}
        for number, symbol in enumerate(symbols):
            is_member = symbol.parent == owner or (
                symbol.parent < 0 and symbol.qualified.startswith(prefix)
            )
            if is_member and symbol.kind in CALLABLE and not symbol.name.startswith("_"):
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
        """Folders by their share of the rank, and the number of those with a relevant share.

        A folder with nearly all of the rank is replaced by its subfolders.
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
                # Files directly in the folder: this entry is final.
                break
        ordered = sorted(groups.items(), key=lambda item: (-item[1][2], item[0]))
        weighty = sum(score >= _LEAST_SHARE for _, (_, _, score) in ordered)
        folders = [
            MapFolder(printed(name) or ".", files, lines, round(score * 100, 1))
            for name, (files, lines, score) in ordered
        ]
        return folders, max(weighty, 1)

    def _grouped(self, top: bytes) -> dict[bytes, tuple[int, int, float]]:
        """Files, lines and rank of each direct subfolder; files outside of all count for `top`."""
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
            # A manifest may name a definition that exists only at run time: then the file is shown.
            with suppress(HandleError):
                handle = self._targets.find(f"{handle}#{entry.symbol}").node.handle
        gives = "" if entry.symbol else self._reexports(entry.path)
        return MapEntry(entry.name, handle, f"{entry.why}{gives}")

    def _reexports(self, path: bytes) -> str:
        """What a package's file re-exports from its own folder; most used first."""
        content = self._view.snapshot.by_path[path].content
        read = ranking_reads.imports(
            self._view.snapshot.db, [content] if content is not None else []
        )
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
        return f"; exports {some_of(public_names, _MOST_REEXPORTS)}" if public_names else ""

    def _hot(self) -> tuple[list[Node], int]:
        """Definitions that may have the most users; with a focus, those of the ranked files."""
        allowed = set(self._order[:_NEAR_FILES]) if self._interest.near else None
        return candidates(
            self._targets, self._ranked, self._scores, allowed, CANDIDATES * self._scale
        )

    def _links(self, drawn_files: Sequence[int]) -> tuple[tuple[str, str, int], ...]:
        """Links among the files shown, the heaviest first."""
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
"""Results of a query: files that come first, and places that are listed."""
_MOST_REEXPORTS = 12


def _modules(symbols: Sequence[Symbol]) -> set[int]:
    """The modules and namespaces around the definitions of a file, and -1 for the file itself."""
    ordinals = {-1}
    filled = {symbol.parent for symbol in symbols}
    for number, symbol in enumerate(symbols):
        if symbol.kind == "module" and symbol.parent in ordinals and number in filled:
            ordinals.add(number)
    return ordinals


def _within(answer: MapAnswer, tokens: int) -> MapAnswer:
    """Drop the last parts of the overview until it fits."""
    while cost_of("\n".join(graph_text.map_(answer)[0])) > tokens:
        lists = {name: getattr(answer, name) for name in ("hot", "folders", "entries")}
        name = max(lists, key=lambda name: len(lists[name])) if any(lists.values()) else "meant"
        if not getattr(answer, name):
            break
        answer = replace(answer, **{name: getattr(answer, name)[:-1]})
    return answer


# The map within a number of tokens, from the ranks of files.

LEAST_TOKENS, MOST_TOKENS = 200, 100_000
_FOCUS_WEIGHT = 200.0
_ROLE_WEIGHTS = {
    "test": 0.1,
    "example": 0.2,
    "vendored": 0.02,
    "generated": 0.1,
    "compat": 0.5,
    "prose": 0.02,
}
"""Weight of a file, and of its uses of others, by role; plain code has 1."""
_TILTED_BY = 12
"""Results of the query that shift the map."""
_USING = 0.4
"""Share of the rank that a file has for using ranked files."""


def map_(
    view: CurrentView,
    focus: Sequence[str],
    query: str,
    max_tokens: int,
    seconds: float,
) -> MapAnswer:
    """Build the map.

    Args:
        view: the view.
        focus: handles, files or folders; the map prefers what is near them.
        query: words that shift the map as `focus` does; empty for none.
        max_tokens: maximum cost of its text.
        seconds: time limit for resolving files.

    Raises:
        SettingError: `max_tokens` is out of range.
        HandleError: a focus names nothing, or several things.
    """
    if not LEAST_TOKENS <= max_tokens <= MOST_TOKENS:
        raise InvalidArgument(
            "max_tokens", f"must be between {LEAST_TOKENS} and {MOST_TOKENS:,}, not {max_tokens:,}"
        )
    graph = LazyGraph(view, seconds)
    targets = Targets(view, graph)
    cached_ranks = graph.values.get("map")
    if cached_ranks is None:
        cached_ranks = ranks_of(view, graph)
        if not cached_ranks.unread and not cached_ranks.unlinked:
            graph.values["map"] = cached_ranks
    ranked = cast("Ranked", cached_ranks)
    near, notes = _weights_near(view, targets, focus), list[str]()
    query_nodes = tuple(dict.fromkeys(_places_for(view, query, seconds))) if query else ()
    if query:
        for number, path in enumerate(dict.fromkeys(node.path for node in query_nodes)):
            weight = _ROLE_WEIGHTS.get(ranked.roles.get(path, ""), 1.0)
            near[path] = near.get(path, 0.0) + weight / (1 + number)
        if not query_nodes:
            notes.append(f"nothing found for {query!r}: the map shows the whole repository")
    rough = False

    def spent() -> bool:
        nonlocal rough
        rough = graph.spent()
        return rough

    scores = _scores(ranked, near, spent)
    if ranked.left_out:
        notes.append(f"{count_of(ranked.left_out, 'file')} of tests or third-party code not ranked")
    users = DefinitionUsers(view, seconds)
    names = tuple(name for name in (*focus, query) if name)
    drawing = Drawing(view, targets, ranked, scores, Interest(near, names, query_nodes), users)
    answer = drawing.draw(max_tokens, notes)
    return _marked_partial(answer, ranked, rough=rough, uncounted=len(users.incomplete))


def _places_for(view: CurrentView, query: str, seconds: float) -> list[Node]:
    """Definitions and files that match a query, best first."""
    request = Request(
        query, "auto", content="code", limit=_TILTED_BY, seconds=seconds,
        meaning=view.settings.meaning,
    )  # fmt: skip
    ranked = search(view.snapshot, request, view.read)
    return [Node(place.file.path, place.symbol) for place in ranked.results]


def _marked_partial(answer: MapAnswer, ranked: Ranked, *, rough: bool, uncounted: int) -> MapAnswer:
    """Mark the answer `partial` if not every file was read in time, or the ranks are not final."""
    uncounted_files = {
        "are not read": ranked.unread,
        "are ranked without their uses": ranked.unlinked,
    }
    reasons = [
        f"{count_of(count, 'file')} {reason}" for reason, count in uncounted_files.items() if count
    ]
    if rough:
        reasons.append("the order is not final")
    if uncounted:
        reasons.append(f"users of {count_of(uncounted, 'definition')} are not all counted")
    if not reasons:
        return answer
    note = f"time ran out: {', '.join(reasons)}; ask again to continue, or with more time"
    receipt = answer.receipt
    note = "; ".join(filter(None, (receipt.note, note)))
    return replace(answer, receipt=replace(receipt, status="partial", note=note))


def _weights_near(view: CurrentView, targets: Targets, focus: Sequence[str]) -> dict[bytes, float]:
    """Files that the focus names; for a folder, all files below it."""
    weights: dict[bytes, float] = {}
    for target in focus:
        handle = typed_handle(target, view.scope.root, view.snapshot.by_path)
        below = targets.below(handle) or targets.find(target).paths
        for path in below:
            weights[path] = weights.get(path, 0.0) + 1.0 / len(below)
    return weights


def _scores(ranked: Ranked, near: Mapping[bytes, float], spent: Callable[[], bool]) -> list[float]:
    weights = [
        _ROLE_WEIGHTS.get(ranked.roles.get(source.path, ""), 1.0) for source in ranked.sources
    ]
    links = [
        {target: weight * weights[at] for target, weight in out.items()}
        for at, out in enumerate(ranked.links.weights)
    ]
    if not near:
        return _blended(ranked, links, weights, spent)
    # Users of the focus matter as much as what it uses.
    around = [dict(out) for out in links]
    for at, out in enumerate(links):
        for target, weight in out.items():
            around[target][at] = around[target].get(at, 0.0) + weight / 2
    start = [
        0.02 * weights[at] / max(len(weights), 1) + _FOCUS_WEIGHT * near.get(source.path, 0.0)
        for at, source in enumerate(ranked.sources)
    ]
    return pagerank(around, start, spent)


def _blended(
    ranked: Ranked,
    links: Sequence[Mapping[int, float]],
    weights: Sequence[float],
    spent: Callable[[], bool],
) -> list[float]:
    """Rank by being used, with a share for using ranked files.

    Rank by use alone puts constants and small helpers before the files that do the work.
    """
    backward: list[dict[int, float]] = [{} for _ in links]
    for at, out in enumerate(links):
        for target, weight in out.items():
            backward[target][at] = weight
    used = pagerank(links, weights, spent)
    using = pagerank(backward, weights, spent)
    blended = [
        ((1 - _USING) * score + _USING * other)
        * weights[at]
        * _substance(ranked, at)
        # What only one important file uses is a detail of that file.
        * sqrt(1 + ranked.links.importers[at])
        for at, (score, other) in enumerate(zip(used, using, strict=True))
    ]
    total = sum(blended) or 1.0
    return [score / total for score in blended]


def _substance(ranked: Ranked, at: int) -> float:
    """A factor below 1 for a file that defines next to nothing with a body."""
    return min(1.0, 0.3 + 0.1 * ranked.bodies.get(ranked.sources[at].content, 0))
