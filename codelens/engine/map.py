"""The repository in so many tokens: what matters in it, by who uses what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import sqrt
from typing import NamedTuple, cast

from codelens.engine import graph_text
from codelens.engine.as_text import count_of, tokens_of
from codelens.engine.entries import entries
from codelens.engine.graph_answers import MapAnswer, MapEntry, MapFile, MapFolder, MapSymbol
from codelens.engine.graphs import LazyNet, importer_of
from codelens.engine.look import Look
from codelens.engine.things import Things
from codelens.errors import HandleError, SettingError
from codelens.handles.grammar import file_handle, parse_handle
from codelens.paths import printed
from codelens.rank.maplinks import Links, Source, linked
from codelens.rank.pagerank import pagerank
from codelens.resolve.model import CALLABLE, TYPES
from codelens.resolve.net import Node
from codelens.store import rankreads, uses, views
from codelens.store.contents import Content
from codelens.types import Import, Symbol

LEAST_TOKENS, MOST_TOKENS = 200, 100_000
_MOST_FILES = 20_000
"""Files that are ranked; of more, tests and what others wrote go first."""
_FOCUS_WEIGHT = 200.0
_ROLE_WEIGHTS = {
    "test": 0.1,
    "example": 0.2,
    "vendored": 0.02,
    "generated": 0.1,
    "compat": 0.5,
    "prose": 0.02,
}
"""How much a file's own uses, and its being there, count beside those of plain code."""
_USING = 0.4
"""Share of the rank that a file has for using others that rank."""
_NEARLY_ALL = 0.8
_FOLDERS, _ENTRIES, _HOT, _LINKS = 12, 8, 10, 200
_HEAD_SHARE = 0.4
"""Of the budget, at most, for what is said of the whole."""
_SYMBOLS_FIRST, _SYMBOLS_LAST, _MEMBERS = 8, 4, 4
_LEAST_USERS = 2
"""Files that use a constant before it is shown."""
_HIDDEN = frozenset({"heading", "key"})
_MINOR = frozenset({"constant", "variable", "field", "property", "member"})


class Ranked(NamedTuple):
    """What of the map does not hang on focus and budget; kept with the state of the view."""

    sources: list[Source]
    roles: dict[bytes, str]
    links: Links
    about: dict[int, Content]
    bodies: dict[int, int]
    """Content -> how many functions and types it defines."""
    left_out: int


def map_(
    look: Look,
    focus: Sequence[str],
    found: Callable[[str], Sequence[bytes]],
    query: str,
    max_tokens: int,
    seconds: float,
) -> MapAnswer:
    """The map.

    Args:
        look: the view.
        focus: handles, files or folders near which the map is to be drawn.
        found: paths that answer a query, best first.
        query: words that tilt the map as `focus` does; empty for none.
        max_tokens: what its text may cost.
        seconds: how long files may be resolved for.

    Raises:
        SettingError: `max_tokens` is out of range.
        HandleError: a focus names nothing, or several things.
    """
    if not LEAST_TOKENS <= max_tokens <= MOST_TOKENS:
        raise SettingError(
            f"max_tokens must be between {LEAST_TOKENS} and {MOST_TOKENS:,}, not {max_tokens}"
        )
    net = LazyNet(look, seconds)
    things = Things(look, net)
    known = net.values.get("map")
    if known is None:
        known = net.values["map"] = _ranked(look)
    ranked = cast("Ranked", known)
    near, notes = _focused(look, things, focus), list[str]()
    if query:
        hits = found(query)
        for number, path in enumerate(hits):
            weight = _ROLE_WEIGHTS.get(ranked.roles.get(path, ""), 1.0)
            near[path] = near.get(path, 0.0) + weight / (1 + number)
        if not hits:
            notes.append(f"nothing found for {query!r}: the map is not tilted")
    scores = _scores(ranked, near)
    if ranked.left_out:
        notes.append(f"{count_of(ranked.left_out, 'file')} of tests or other origin not ranked")
    return _Drawing(look, things, ranked, scores, near, notes, (*focus, query)).drawn(max_tokens)


def _ranked(look: Look) -> Ranked:
    snapshot = look.snapshot
    importer, languages = importer_of(look)
    facts = views.path_facts(snapshot.db, snapshot.by_path_id)
    roles = {one.path: one.role for one in facts.values()}
    about = snapshot.about(snapshot.by_content)
    definitions = rankreads.definitions(snapshot.db, snapshot.by_content)
    imported = {
        content: tuple(Import(row[0], row[1], row[2], int(row[3])) for row in rows)
        for content, rows in uses.imports(snapshot.db, definitions)
    }
    chosen = [
        file
        for file in snapshot.files
        if file.content in definitions
        and any(one.kind not in _HIDDEN for one in definitions[file.content])
    ]
    chosen.sort(key=lambda file: (bool(roles.get(file.path)), file.path))
    left_out = max(len(chosen) - _MOST_FILES, 0)
    sources = [
        Source(
            file.path,
            cast("int", file.content),
            languages[file.path],
            frozenset(
                one.name
                for one in definitions[cast("int", file.content)]
                # A method that stands outside of its type (Go) is no name of its own.
                if one.parent < 0 and one.kind not in {"heading", "key", "method"}
            ),
            imported.get(cast("int", file.content), ()),
        )
        for file in sorted(chosen[:_MOST_FILES])
    ]
    bodies = {
        content: sum(one.kind in CALLABLE or one.kind in TYPES for one in rows)
        for content, rows in definitions.items()
    }
    counts = uses.counts(snapshot.db, sorted({one.content for one in sources}))
    return Ranked(sources, roles, linked(sources, importer, counts), about, bodies, left_out)


def _focused(look: Look, things: Things, focus: Sequence[str]) -> dict[bytes, float]:
    """Files that the focus names; all those below a folder."""
    found: dict[bytes, float] = {}
    for one in focus:
        handle = parse_handle(one, look.scope.root)
        below: list[bytes] = []
        if handle.path and handle.path not in look.snapshot.by_path and not handle.lines:
            prefix = handle.path + b"/"
            below = [file.path for file in look.snapshot.files if file.path.startswith(prefix)]
        if not below:
            place, _ = things.find(one)
            below = [place.file.path]
        for path in below:
            found[path] = found.get(path, 0.0) + 1.0 / len(below)
    return found


def _scores(ranked: Ranked, near: Mapping[bytes, float]) -> list[float]:
    weights = [_ROLE_WEIGHTS.get(ranked.roles.get(one.path, ""), 1.0) for one in ranked.sources]
    links = [
        {target: weight * weights[at] for target, weight in out.items()}
        for at, out in enumerate(ranked.links.weights)
    ]
    if not near:
        return _blended(ranked, links, weights)
    # Who uses the focus matters as much as what it uses.
    around = [dict(out) for out in links]
    for at, out in enumerate(links):
        for target, weight in out.items():
            around[target][at] = around[target].get(at, 0.0) + weight / 2
    start = [
        0.02 * weights[at] / max(len(weights), 1) + _FOCUS_WEIGHT * near.get(one.path, 0.0)
        for at, one in enumerate(ranked.sources)
    ]
    return pagerank(around, start)


def _blended(
    ranked: Ranked, links: Sequence[Mapping[int, float]], weights: Sequence[float]
) -> list[float]:
    """Rank by being used, with a share by using what ranks.

    Being used alone puts constants and small tools before the files that do the work with them.
    """
    backward: list[dict[int, float]] = [{} for _ in links]
    for at, out in enumerate(links):
        for target, weight in out.items():
            backward[target][at] = weight
    used = pagerank(links, weights)
    using = pagerank(backward, weights)
    both = [
        ((1 - _USING) * one + _USING * other)
        * weights[at]
        * _substance(ranked, at)
        # What one important file alone uses is a detail of that file.
        * sqrt(1 + ranked.links.importers[at])
        for at, (one, other) in enumerate(zip(used, using, strict=True))
    ]
    total = sum(both) or 1.0
    return [one / total for one in both]


def _substance(ranked: Ranked, at: int) -> float:
    """Less for a file that defines next to nothing with a body."""
    return min(1.0, 0.3 + 0.1 * ranked.bodies.get(ranked.sources[at].content, 0))


class _Drawing:
    """Chooses what fits."""

    def __init__(
        self, look: Look, things: Things, ranked: Ranked, scores: Sequence[float],
        near: Mapping[bytes, float], notes: list[str], focus: Sequence[str],
    ) -> None:  # fmt: skip
        self._look = look
        self._things = things
        self._ranked = ranked
        self._scores = scores
        self._near = near
        self._notes = notes
        self._focus = tuple(one for one in focus if one)
        self._order = sorted(
            range(len(scores)), key=lambda at: (-scores[at], ranked.sources[at].path)
        )

    def drawn(self, max_tokens: int) -> MapAnswer:
        languages = self._languages()
        plain = MapAnswer(
            receipt=self._look.receipt(),
            name=printed(self._look.scope.root.encode("utf-8", "surrogateescape")).rpartition("/")[
                2
            ],
            languages=languages,
            folders=tuple(self._folders()),
            entries=tuple(self._entries()),
            hot=tuple(self._hot()),
            files=(),
            links=(),
            ranked=len(self._ranked.sources),
            focus=self._focus,
            notes=tuple(self._notes),
        )
        plain = _within(plain, int(max_tokens * (_HEAD_SHARE / 2 if self._near else _HEAD_SHARE)))
        head, _ = graph_text.map_(plain)
        left = max_tokens - tokens_of("\n".join(head)) - _SPARE_TOKENS
        files: list[MapFile] = []
        shown: list[int] = []
        for place, at in enumerate(self._order):
            if left < _LEAST_FILE_TOKENS:
                break
            file = self._file(at, place, left)
            cost = tokens_of(graph_text.map_file(file)) + 1
            if cost > left and files:
                break
            left -= cost
            files.append(file)
            shown.append(at)
        return _replaced(plain, files, self._links(shown))

    def _file(self, at: int, place: int, tokens: int) -> MapFile:
        source = self._ranked.sources[at]
        symbols = self._things.symbols(source.path)
        most = max(_SYMBOLS_FIRST - place // 3, _SYMBOLS_LAST)
        if source.path in self._near:
            most = _SYMBOLS_FIRST
        chosen = self._chosen(at, symbols, most)
        about = self._ranked.about[source.content]
        rows = tuple(self._symbol(at, source.path, symbols, one) for one in chosen)
        every = sum(one.kind not in _HIDDEN for one in symbols)
        file = MapFile(
            printed(source.path), source.language, about.lines,
            round(self._scores[at] * 100, 3), self._ranked.links.importers[at], rows,
            every - len(rows),
        )  # fmt: skip
        while rows and tokens_of(graph_text.map_file(file)) > tokens:
            rows = rows[:-1]
            file = _shorter(file, rows, every)
        return file

    def _chosen(self, at: int, symbols: Sequence[Symbol], most: int) -> list[int]:
        """Definitions worth showing, in the order of the text; members only of shown types."""
        users = self._ranked.links.users
        top: dict[str, int] = {}
        for number, one in enumerate(symbols):
            minor = one.kind in _MINOR and users[at, one.name] < _LEAST_USERS
            if one.parent < 0 and one.kind not in _HIDDEN and not minor:
                # Of overloads one is enough.
                top.setdefault(one.name, number)
        best = sorted(top.values(), key=lambda number: self._worth(at, symbols, number))[:most]
        room = most - len(best)
        for owner in [number for number in best if symbols[number].kind in TYPES]:
            members = [
                number
                for number, one in enumerate(symbols)
                if one.parent == owner and one.kind in CALLABLE and not one.name.startswith("_")
            ]
            spread = self._ranked.links.spread
            named = {symbols[number].name: number for number in reversed(members)}
            members = sorted(named.values(), key=lambda at: (-spread[symbols[at].name], at))
            take = members[: min(_MEMBERS, room)]
            best += take
            room -= len(take)
        return sorted(best)

    def _worth(self, at: int, symbols: Sequence[Symbol], number: int) -> tuple[object, ...]:
        one = symbols[number]
        users = self._ranked.links.users[at, one.name]
        return (-users, not one.exported, one.kind in _MINOR, one.name.startswith("_"), number)

    def _symbol(self, at: int, path: bytes, symbols: Sequence[Symbol], number: int) -> MapSymbol:
        thing = self._things.thing(Node(path, number))
        depth = 1 if symbols[number].parent >= 0 else 0
        users = self._ranked.links.users[at, symbols[number].name] if not depth else 0
        return MapSymbol(thing, depth, users)

    def _languages(self) -> tuple[tuple[str, int, int], ...]:
        files: dict[str, list[int]] = {}
        for content, rows in self._look.snapshot.by_content.items():
            about = self._ranked.about.get(content)
            if about is not None and about.language != "text" and about.outcome == "parsed":
                count = files.setdefault(about.language, [0, 0])
                count[0] += len(rows)
                count[1] += about.lines * len(rows)
        rows = [(name, count, lines) for name, (count, lines) in files.items()]
        return tuple(sorted(rows, key=lambda row: (-row[2], row[0])))

    def _folders(self) -> Iterator[MapFolder]:
        """Folders by their share of the rank; one that has nearly all is told by those in it."""
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
        for name, (files, lines, score) in ordered[:_FOLDERS]:
            yield MapFolder(printed(name) or ".", files, lines, round(score * 100, 1))

    def _grouped(self, top: bytes) -> dict[bytes, tuple[int, int, float]]:
        """Files, lines and rank of each folder right in one; what is in none counts for it."""
        found: dict[bytes, tuple[int, int, float]] = {}
        prefix = top + b"/" if top else b""
        for at, one in enumerate(self._ranked.sources):
            if not one.path.startswith(prefix):
                continue
            first, sign, _ = one.path[len(prefix) :].partition(b"/")
            name = prefix + first if sign else top
            files, lines, score = found.get(name, (0, 0, 0.0))
            more = self._ranked.about[one.content].lines
            found[name] = (files + 1, lines + more, score + self._scores[at])
        return found

    def _entries(self) -> Iterator[MapEntry]:
        ranked, snapshot = self._ranked, self._look.snapshot
        own = {one.path: one for one in ranked.sources if not ranked.roles.get(one.path)}
        files = {
            path: own[path].language if path in own else ""
            for path in snapshot.by_path
            if not ranked.roles.get(path)
        }
        defined = {path: one.defined for path, one in own.items()}

        def read(path: bytes) -> bytes | None:
            return self._look.read(snapshot.by_path[path])

        for one in entries(files, defined, read)[:_ENTRIES]:
            handle = file_handle(one.path, self._things.ref)
            if one.symbol:
                # A manifest may name what is made at run time: then the file will do.
                with suppress(HandleError):
                    handle = self._things.find(f"{handle}#{one.symbol}")[0].handle
            yield MapEntry(one.name, handle, one.why)

    def _hot(self) -> Iterator[MapSymbol]:
        """Definitions that most files use; near a focus those of the files that rank."""
        ranked = self._ranked
        allowed = set(self._order[:_NEAR_FILES]) if self._near else None
        best = sorted(
            (
                (-count, -self._scores[at], ranked.sources[at].path, name)
                for (at, name), count in ranked.links.users.items()
                if count > 1
                and not ranked.roles.get(ranked.sources[at].path)
                and (allowed is None or at in allowed)
            ),
        )[:_HOT]
        for count, _, path, name in best:
            symbols = self._things.symbols(path)
            number = next(
                (at for at, one in enumerate(symbols) if one.parent < 0 and one.name == name), None
            )
            if number is not None:
                yield MapSymbol(self._things.thing(Node(path, number)), 0, -count)

    def _links(self, shown: Sequence[int]) -> tuple[tuple[str, str, int], ...]:
        """Among the files shown, the heaviest."""
        sources, inside = self._ranked.sources, set(shown)
        rows = [
            (-weight, sources[at].path, sources[target].path)
            for at in shown
            for target, weight in self._ranked.links.weights[at].items()
            if target in inside
        ]
        return tuple(
            (printed(source), printed(target), max(round(-weight), 1))
            for weight, source, target in sorted(rows)[:_LINKS]
        )


_SPARE_TOKENS = 40
_LEAST_FILE_TOKENS = 12
_NEAR_FILES = 12


def _within(answer: MapAnswer, tokens: int) -> MapAnswer:
    """Without the last of what is said of the whole, until it fits."""
    for _ in range(_FOLDERS + _ENTRIES + _HOT):
        if tokens_of("\n".join(graph_text.map_(answer)[0])) <= tokens:
            break
        longest = max((answer.hot, answer.folders, answer.entries), key=len)
        if longest is answer.hot:
            answer = replace(answer, hot=answer.hot[:-1])
        elif longest is answer.folders:
            answer = replace(answer, folders=answer.folders[:-1])
        else:
            answer = replace(answer, entries=answer.entries[:-1])
    return answer


def _replaced(
    answer: MapAnswer, files: Sequence[MapFile], links: tuple[tuple[str, str, int], ...]
) -> MapAnswer:
    return replace(answer, files=tuple(files), links=links)


def _shorter(file: MapFile, rows: tuple[MapSymbol, ...], every: int) -> MapFile:
    return replace(file, symbols=rows, left=every - len(rows))
