"""Finds possible uses by texts: dotted names (`mock.patch("pkg.a.f")`), templates, settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from codelens.engine.current_view import CurrentView
from codelens.engine.graph.convention_uses import convention_uses
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.possible_uses import BY_TEXT, PossibleSite
from codelens.engine.graph.setting_uses import (
    HOLDERS,
    MOST_KEYS,
    KeyUses,
    Match,
    Place,
    SettingKey,
    TextSearch,
    is_configuration,
    is_data,
    keys_in,
)
from codelens.engine.graph.targets import Named, Targets, innermost
from codelens.engine.graph.template_uses import (
    TemplateUses,
    registered_name,
    registered_uses,
)
from codelens.resolve.file_model import CALLABLE, TYPES
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.path_tree import folder_of, stem_of
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.wording import count_of

MOST_NAMED = 30
"""Maximum number of definitions and files to search for."""
_FACELESS = frozenset({"__init__", "__main__"})
_ROOTS = frozenset({"src", "lib", "app", "main", "test"})
"""Folders above a package that are not part of its name."""
_JOINT = re.compile(r"[.:\\]+")
_MODULE = re.compile(rb"(?<![\w$.\\])(?:[\w$]+[.:\\]+)+\Z")
"""The text before a name in a string."""
_MOST_MODULE = 500
"""Bytes."""
_ENDS = re.compile(rb"(?:[.:]+\w+)*[\"'`]")
"""What may follow a name in a string: members of it, then the quote."""


class DottedNames:
    """Searches the strings of one view, for one call."""

    def __init__(self, graph: LazyGraph, search: TextSearch) -> None:
        self._graph = graph
        self._search = search

    def of(self, nodes: Iterable[Node]) -> Iterator[Place]:
        """Strings that name some definitions, or files as a whole (`MODULE`)."""
        for node in list(nodes)[:MOST_NAMED]:
            own = self._own_name(node)
            if own is not None:
                yield from self._naming(node, own)

    def _own_name(self, node: Node) -> tuple[str, ...] | None:
        """The part of a dotted name after the module: the enclosing types, then the definition."""
        if not spec_of(self._graph.resolved.languages.get(node.path, "")).named_in_texts:
            return None
        symbols, parts, at = self._graph.symbols(node.path), list[str](), node.symbol
        while at >= 0:
            if parts and symbols[at].kind not in TYPES | {"module"}:
                return None
            if symbols[at].kind != "module":
                parts.append(symbols[at].name)
            at = symbols[at].parent
        return tuple(reversed(parts))

    def _naming(self, node: Node, own: tuple[str, ...]) -> Iterator[Place]:
        modules = self._modules(node.path)
        words = own or modules[0][-1:]
        paths = self._search.files_with(words)
        if not own:
            # Uses inside the file itself do not count.
            paths.discard(node.path)
        data = [path for path in paths if is_data(path) or path.endswith(b".xml")]
        first, *rest = (re.escape(part.encode()) for part in words)
        members = b"".join(rb"[.:\\]+" + part for part in rest)
        pattern = re.compile(rb"(?P<at>%s(?<=[.:\\]%s)%s)(?![\w$])" % (first, first, members))
        for last_part in self._search.matches(paths, pattern, also=data):
            module = _MODULE.search(last_part.text, last_part.start - _MOST_MODULE, last_part.start)
            if module is None:
                continue
            match = last_part._replace(start=module.start())
            written = match.text[match.start : match.end].decode("utf-8", "replace")
            before = tuple(_JOINT.split(written))[: -len(own) or None]
            if _is_text(match, in_code=match.path not in data) and (
                any(_names(before, module) for module in modules)
                or (own and self._is_imported_under(before, node, own))
            ):
                yield Place(match.path, match.line, f"names {written}")

    def _modules(self, path: bytes) -> list[tuple[str, ...]]:
        """The parts of the names that a file, or its package, may have."""
        folders = tuple(part.decode("utf-8", "replace") for part in folder_of(path).split(b"/"))
        folders = tuple(filter(None, folders))
        stem = stem_of(path).decode("utf-8", "replace")
        model = self._graph.resolved.model(path)
        package = model.package if model is not None else ""
        spoken = [tuple(package.split("."))] if package else []
        return [folders if stem in _FACELESS and folders else (*folders, stem), *spoken]

    def _is_imported_under(self, module: tuple[str, ...], node: Node, own: tuple[str, ...]) -> bool:
        """Whether a module of that name imports the definition: `patch("pkg.user.f")`."""
        top = node
        while (parent := self._graph.symbols(top.path)[top.symbol].parent) >= 0:
            top = Node(top.path, parent)
        return any(
            _names(module, self._modules(path)[0])
            and top in self._graph.imported_as(own[0], [path])
            for path in self._graph.importers(node.path)
        )


def _names(written: Sequence[str], module: tuple[str, ...]) -> bool:
    """Whether a string is a module's name, with or without the folders above its package."""
    count = len(written)
    if not count or tuple(written) != module[-count:]:
        return False
    return count > 1 or _ROOTS.issuperset(module[:-1])


def _is_text(match: Match, *, in_code: bool) -> bool:
    """Whether a place is a whole string, or a whole value in a data file."""
    quoted = match.before[-1:] in {b'"', b"'", b"`"}
    if in_code or quoted:
        return quoted and _ENDS.match(match.after) is not None
    return match.before[-1:] not in {b"/", b"-", b"@"}


# Collects all possible uses by texts: names of templates and definitions, keys of settings.

_NO_CODE = frozenset({"heading", "key"})


class TextTargets(NamedTuple):
    """What texts may name."""

    paths: tuple[bytes, ...]
    """Files that change, or are targets, as a whole."""
    keys: tuple[SettingKey, ...]
    nodes: tuple[Node, ...] = ()
    """Definitions, and files as a whole, that a string may name by path: `"pkg.a.f"`."""


class TextUses(NamedTuple):
    """Possible uses."""

    sites: tuple[PossibleSite, ...]
    notes: tuple[str, ...]
    """What was not searched."""


def asked_of(targets: Targets, named: Named) -> TextTargets:
    """What texts may name of a target: a template, the keys of settings."""
    keys: dict[SettingKey, None] = {}
    for path in named.paths:
        spans = _spans(targets, named, path) if len(keys) < MOST_KEYS else []
        text = targets.view.read_path(path) if spans else None
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
    """The lines of a file that are in the target and may set keys."""
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
"""More lines than any indexed file has."""


def text_uses(
    view: CurrentView, graph: LazyGraph, targets: Targets, text_targets: TextTargets, depth: int = 1
) -> TextUses:
    """Possible uses of the target, by texts."""
    if not any(text_targets):
        return TextUses((), ())
    search = TextSearch(view, graph)
    readers = KeyUses(graph, search)
    programs = [path for path in text_targets.paths if not is_data(path)]
    places = [
        *TemplateUses(view, search).of(text_targets.paths, depth),
        *readers.of(text_targets.keys, programs),
        *DottedNames(graph, search).of(text_targets.nodes),
        *convention_uses(targets, search, _placed(text_targets)),
        *registered_uses(view, search, _registered(targets, text_targets.nodes)),
    ]
    targets.fetch([Node(place.path, MODULE) for place in places])
    sites = dict.fromkeys(_site(targets, place) for place in places)
    return TextUses(tuple(sites), _notes(search, readers, text_targets))


def _placed(text_targets: TextTargets) -> list[Node]:
    """Files as a whole, then definitions."""
    files = [Node(path, MODULE) for path in text_targets.paths]
    return list(dict.fromkeys((*files, *text_targets.nodes)))


def _site(targets: Targets, place: Place) -> PossibleSite:
    node = place.node or _node_at(targets, place.path, place.line)
    choices = place.choices if place.choices > 1 else 0
    return PossibleSite(BY_TEXT + place.grade, place.path, place.line, node, choices, place.why)


def _registered(targets: Targets, nodes: Sequence[Node]) -> Iterator[tuple[str, str]]:
    """The names under which decorators register functions for templates, by kind."""
    names: dict[tuple[str, str], None] = {}
    for node in nodes[:MOST_NAMED]:
        symbols = targets.symbols(node.path)
        if not 0 <= node.symbol < len(symbols):
            continue
        symbol = symbols[node.symbol]
        if symbol.kind in CALLABLE and symbol.start_line < symbol.name_line:
            head = targets.lines(node.path)[symbol.start_line - 1 : symbol.name_line - 1]
            registered = registered_name("\n".join(head), symbol.name)
            names |= {registered: None} if registered is not None else {}
    return iter(names)


def _node_at(targets: Targets, path: bytes, line: int) -> Node:
    """The definition of code that contains a line, or its file."""
    symbols = targets.symbols(path)
    at = innermost(symbols, [(line, line)])[0]
    return Node(path, MODULE if at != MODULE and symbols[at].kind in _NO_CODE else at)


def _notes(search: TextSearch, readers: KeyUses, text_targets: TextTargets) -> tuple[str, ...]:
    notes: list[str] = []
    if search.unread:
        files = count_of(search.unread, "file")
        notes.append(f"at least: {files} with the words of its names or keys not searched")
    if readers.left_out:
        reads = count_of(readers.left_out, "place")
        notes.append(f"at least: {reads} read keys of these names, too many to distinguish")
    if len(text_targets.keys) >= MOST_KEYS:
        notes.append(f"at least: only readers of the first {MOST_KEYS} keys were searched for")
    unnamed = len(text_targets.nodes) - MOST_NAMED
    if unnamed > 0:
        more = count_of(unnamed, "more target")
        notes.append(f"at least: texts that name {more} were not searched for")
    return tuple(notes)
