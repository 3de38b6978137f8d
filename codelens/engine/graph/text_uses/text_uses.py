"""Possible uses that texts name: templates and definitions by name, settings by their keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.possible_uses import BY_TEXT, PossibleSite
from codelens.engine.graph.targets import Named, Targets, innermost
from codelens.engine.graph.text_uses.dotted_names import MOST_NAMED, DottedNames
from codelens.engine.graph.text_uses.key_uses import (
    BY_NAME,
    OF_CONFIGURATION,
    OF_ITS_OWNER,
    KeyUse,
    KeyUses,
)
from codelens.engine.graph.text_uses.setting_keys import (
    HOLDERS,
    MOST_KEYS,
    SettingKey,
    is_configuration,
    is_data,
    keys_in,
)
from codelens.engine.graph.text_uses.template_names import has_ending, template_at
from codelens.engine.graph.text_uses.template_uses import TemplateUse, TemplateUses, node_of
from codelens.engine.graph.text_uses.word_search import TextSearch
from codelens.paths import printed
from codelens.plurals import count_of
from codelens.resolve.walk.edge_table import MODULE, Node

_NO_CODE = frozenset({"heading", "key"})


class TextTargets(NamedTuple):
    """What texts may name."""

    paths: tuple[bytes, ...]
    """Files that change, or are asked about, as a whole."""
    keys: tuple[SettingKey, ...]
    nodes: tuple[Node, ...] = ()
    """Definitions, and files as a whole, that a text may name by their path: `"pkg.a.f"`."""


class TextUses(NamedTuple):
    """Possible uses."""

    sites: tuple[PossibleSite, ...]
    notes: tuple[str, ...]
    """What was not looked at."""


class _Place(NamedTuple):
    """One place that may use what is asked about."""

    path: bytes
    line: int
    node: Node | None
    why: str
    choices: int
    grade: int


def asked_of(targets: Targets, named: Named) -> TextTargets:
    """What texts may name of a target: a template, the keys of settings."""
    keys: dict[SettingKey, None] = {}
    for path in named.paths:
        spans = _spans(targets, named, path) if len(keys) < MOST_KEYS else []
        file = targets.view.snapshot.by_path.get(path)
        text = targets.view.read(file) if file is not None and spans else None
        if text:
            keys |= dict.fromkeys(keys_in(path, text, targets.symbols(path), spans))
    whole = tuple(named.paths) if named.whole else ()
    return TextTargets(whole, tuple(keys)[:MOST_KEYS], tuple(named.nodes))


def together(text_targets: Iterable[TextTargets]) -> TextTargets:
    """What texts may name of several targets."""
    every = list(text_targets)
    paths = dict.fromkeys(path for part in every for path in part.paths)
    keys = dict.fromkeys(key for part in every for key in part.keys)
    nodes = dict.fromkeys(node for part in every for node in part.nodes)
    return TextTargets(tuple(paths), tuple(keys)[:MOST_KEYS], tuple(nodes))


def _spans(targets: Targets, named: Named, path: bytes) -> list[tuple[int, int]]:
    """The lines of a file that are asked about and may set keys."""
    if named.whole:
        return [(1, _WHOLE)] if is_data(path) or is_configuration(path) else []
    if named.lines is not None:
        return [named.lines]
    symbols = targets.symbols(path)
    definitions = [
        symbols[node.symbol]
        for node in named.nodes
        if node.path == path and 0 <= node.symbol < len(symbols)
    ]
    return [
        (symbol.start_line, symbol.end_line)
        for symbol in definitions
        if symbol.kind in HOLDERS or (symbol.kind == "key" and is_data(path))
    ]


_WHOLE = 1_000_000
"""More lines than a file has that is read."""


def text_uses(
    view: CurrentView, graph: LazyGraph, targets: Targets, text_targets: TextTargets, depth: int = 1
) -> TextUses:
    """Who may use what is asked about, by what texts say."""
    named = text_targets.keys or text_targets.nodes
    if not named and all(template_at(path) is None for path in text_targets.paths):
        return TextUses((), ())
    search = TextSearch(view, graph)
    readers = KeyUses(graph, search)
    places = [
        *_templates(view, search, text_targets, depth),
        *_keys(readers, text_targets),
        *_named(DottedNames(graph, search), text_targets),
    ]
    targets.fetch([Node(place.path, MODULE) for place in places])
    sites = dict.fromkeys(_site(targets, place) for place in places)
    return TextUses(tuple(sites), _notes(search, readers, text_targets))


def _site(targets: Targets, place: _Place) -> PossibleSite:
    node = place.node or _node_at(targets, place.path, place.line)
    choices = place.choices if place.choices > 1 else 0
    return PossibleSite(BY_TEXT + place.grade, place.path, place.line, node, choices, place.why)


def _templates(
    view: CurrentView, search: TextSearch, text_targets: TextTargets, depth: int
) -> Iterator[_Place]:
    inside = set(text_targets.paths)
    for use in TemplateUses(view, search).of(text_targets.paths, depth):
        exact = not use.name or has_ending(use.name)
        grade = (_EXACT if exact else _BARE) + (0 if use.template.path in inside else _THROUGH)
        yield _Place(
            use.path, use.line, node_of(use), _why_template(use, inside), use.choices, grade
        )


_EXACT, _BARE, _THROUGH = 0, 1, 2
"""`auth/login.html` names a template rather than `auth.login`, which may be a route."""


def _why_template(use: TemplateUse, text_targets: set[bytes]) -> str:
    through = "" if use.template.path in text_targets else f", through {printed(use.template.path)}"
    if not use.name:
        return f"renders it by its own name{through}"
    return f"names {use.name}{through}"


def _keys(readers: KeyUses, text_targets: TextTargets) -> Iterator[_Place]:
    whole = [path for path in text_targets.paths if not is_data(path)]
    for use in readers.of(text_targets.keys, whole):
        yield _Place(use.path, use.line, None, _why_key(use), 0, use.grade)


def _named(names: DottedNames, text_targets: TextTargets) -> Iterator[_Place]:
    for use in names.of(text_targets.nodes):
        yield _Place(use.path, use.line, None, f"names {use.name}", 0, _EXACT)


def _why_key(use: KeyUse) -> str:
    ways: Mapping[int, str] = {
        OF_ITS_OWNER: f"reads {use.key.name} of {(use.key.owner, *use.key.around)[-1]}",
        OF_CONFIGURATION: f"reads {use.key.name} of a configuration",
        BY_NAME: f"reads {use.key.name}",
    }
    return ways[use.grade]


def _node_at(targets: Targets, path: bytes, line: int) -> Node:
    """The definition of code that a line is in; else its file."""
    symbols = targets.symbols(path)
    at = innermost(symbols, [(line, line)])[0]
    return Node(path, MODULE if at != MODULE and symbols[at].kind in _NO_CODE else at)


def _notes(search: TextSearch, readers: KeyUses, text_targets: TextTargets) -> tuple[str, ...]:
    notes: list[str] = []
    if search.unread:
        files = count_of(search.unread, "file")
        notes.append(f"at least: {files} with the words of its names or keys not looked through")
    if readers.left_out:
        reads = count_of(readers.left_out, "place")
        notes.append(f"at least: {reads} read keys of these names, too many to be told apart")
    if len(text_targets.keys) >= MOST_KEYS:
        notes.append(f"at least: of many keys the readers of the first {MOST_KEYS} were looked for")
    unnamed = len(text_targets.nodes) - MOST_NAMED
    if unnamed > 0:
        more = count_of(unnamed, "more target")
        notes.append(f"at least: texts that name {more} were not looked for")
    return tuple(notes)
