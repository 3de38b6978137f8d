"""Finds the references of a text: calls, types, and names that the text defines or imports.

A large file has thousands of them, so they are processed by column rather than one by one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cache, partial
from itertools import repeat
from operator import itemgetter
from typing import cast

from tree_sitter import Node

from codelens.extract.flow.expressions import UNKNOWN
from codelens.extract.flow.literal_keys import literal_keys
from codelens.extract.flow.named_uses import named_uses
from codelens.extract.flow.operators import Operators, Use
from codelens.extract.flow.receivers import BLANKS, protocol_uses, receivers_of
from codelens.extract.flow.scopes import Flow
from codelens.extract.language_settings import LanguageInfo
from codelens.extract.parse.captures import Captures
from codelens.extract.source_text import Source
from codelens.extract.symbols.symbols import Symbols
from codelens.types import CASE, INITIAL, NAMED, SETTER, VARIABLE, Import, Reference

KINDS = ("export", "name", "type", "call")
"""The valid `@reference.<kind>` captures. At the same position the later kind wins."""
BOUND = (("reference.bound", "name"), ("reference.bound.call", "call"))
"""Captures that count only if the text defines or imports the name, with their kinds."""
_MODULE_PARTS = re.compile(r"[./\\:]+")
_SEPARATORS, _BRACKETS = ".:>\\", "()[]{}\"'`,;"
_LONGEST_NAME = 200
_OWNER = re.compile(r"\s*(?:\.[?!]?|>-|::)\s*([\w$]+)(?![\w$.)\]?>:])")
"""The one name before a member's dot. Read backwards, as a forward search could start at any
letter.
"""
_LONGEST_OWNER = 80
MACRO = -2
"""In place of the number of arguments: a macro call, which calls no function of that name."""
_MARKS = (
    ("call.initial", INITIAL),
    ("call.setter", SETTER),
    ("argument.named", NAMED),
    ("reference.variable", VARIABLE),
    ("reference.key.case", CASE),
)
_FIELDS = frozenset({"field", "member"})
_MEMBERS = _FIELDS | {"method", "property"}
"""Kinds that are used after their owner, not by name alone."""

_DEFAULT = "default"
_PROMISE, _OF_PROMISES = ".#promise", frozenset({"catch", "finally", "then"})
"""What `import("./a")` gives as a value, and its methods. As a type it is the module itself."""
_AROUND_LATE = dict.fromkeys(
    "arrow_function function_expression statement_block return_statement await_expression "
    "parenthesized_expression arguments object".split(), "",
) | {"call_expression": "function", "pair": "key"}  # fmt: skip
"""Nodes between a call that loads a module and the function or key that it is for -> its field."""

_PLACE = itemgetter(2, 3)
_new_reference = cast(
    "Callable[[tuple[str, str, int, int, int, str, int, int, str]], Reference]",
    partial(tuple.__new__, Reference),  # pyright: ignore[reportUnknownMemberType]
)
"""`Reference._make` without its length check, which would cost twice as much as the rest."""


def references_of(
    captures: Captures,
    symbols: Symbols,
    imports: Iterable[Import],
    info: LanguageInfo,
    *,
    source: Source,
    flow: Flow,
    members_from: int | None = None,
) -> list[Reference]:
    """Returns the references of a text in text order: calls, types and names.

    From the byte `members_from` on, where a template's script begins, these include members of any
    value (`a.b().c`).

    A `@reference.bound` counts only if the text defines or imports its name, which leaves out most
    local variables. The scopes decide on a `@reference.open.call`.
    """
    # By position, because the order of overlapping captures varies between runs. At the same
    # position the last entry wins.
    found_at = _bound(captures, symbols, imports, info, source=source, flow=flow)
    found_at.update(_open(captures, symbols, source, flow))
    found_at.update(_marked(captures, symbols, info, source, members_from=members_from))
    taken = _taken(captures, source, flow)
    taken |= _keys(captures, info, source, flow, found_at)
    variables = captures.get("reference.variable", ())
    taken |= {node.start_byte: (source.slice(node.start_byte, node.end_byte).lstrip("@"), "self")
              for node in variables}  # fmt: skip
    found_at.update((start, (name, "name")) for start, (name, _) in taken.items())
    _add_late(found_at, taken, _loaded_uses(captures, info, source, flow))
    found_at.update(_listed(captures, info, source))
    for start, name, kind, receiver in named_uses(captures, info, source, flow):
        found_at[start] = (name, kind)
        taken[start] = (name, receiver)
    # The parser inserts an empty node for a missing name: `self. = 1`.
    starts = sorted([start for start, (name, _) in found_at.items() if name])
    named = [found_at[start] for start in starts]
    names = [name for name, _ in named]
    kinds = [kind for _, kind in named]
    line_starts = source.line_starts
    lines = list(map(bisect_right, repeat(line_starts), starts))
    columns = [start - line_starts[line - 1] for start, line in zip(starts, lines, strict=True)]
    by_place = zip(starts, receivers_of(captures, names, starts, source, flow), strict=True)
    receivers = [taken[start][1] if start in taken else text for start, text in by_place]
    scopes = flow.scopes_at(starts)
    owners = _owners(starts, symbols)
    counts, arguments = _arguments(captures, names, starts, source, flow)
    rows = zip(
        names, kinds, lines, columns, owners, receivers, scopes, counts, arguments, strict=True
    )
    references = list(map(_new_reference, rows))
    if "protocol" not in captures:
        return references
    if info.operators:
        uses = Operators(captures, info, source, flow).uses()
    else:
        defined = _known_names(symbols, imports)
        uses = protocol_uses(captures, defined, source, flow)
    return _with_protocols(references, uses, symbols, source=source, flow=flow)


def _marked(
    captures: Captures,
    symbols: Symbols,
    info: LanguageInfo,
    source: Source,
    *,
    members_from: int | None,
) -> dict[int, tuple[str, str]]:
    """Returns the names that count wherever they are, by position, with their kinds."""
    found_at: dict[int, tuple[str, str]] = {}
    for node in captures.get("chain", ()) if members_from is not None else ():
        if node.start_byte < (members_from or 0):
            continue
        member = node.child_by_field_name("property")
        if member is not None:
            found_at[member.start_byte] = (source.slice(member.start_byte, member.end_byte), "name")
    for name, start in _joined_calls(captures, info, source):
        found_at[start] = (name, "call")
    for kind in KINDS:
        nodes = captures.get(f"reference.{kind}")
        if nodes:
            names, starts = _last_names(nodes, source, _last_name(info))
            ignored = info.ignored_types if kind == "type" else info.ignored_calls
            names, starts = _foreign(names, starts, symbols, ignored)
            parameters = captures.get("type.parameter") if kind == "type" else None
            if parameters:
                names, starts = _without_type_parameters(names, starts, symbols, parameters, source)
            found_at.update(zip(starts, zip(names, repeat(kind)), strict=False))
    return found_at


def _with_protocols(
    references: list[Reference],
    unordered: Iterable[Use],
    symbols: Symbols,
    *,
    source: Source,
    flow: Flow,
) -> list[Reference]:
    """Merges the references by name with the protocol uses, in text order."""
    uses = sorted(unordered)
    line_starts = source.line_starts
    starts = [use[0] for use in uses]
    lines = list(map(bisect_right, repeat(line_starts), starts))
    for (start, name, kind, receiver, count, arguments), line, owner, scope in zip(
        uses, lines, _owners(starts, symbols), flow.scopes_at(starts), strict=True
    ):
        column = start - line_starts[line - 1]
        place = (name, kind, line, column, owner, receiver, scope, count, arguments)
        references.append(_new_reference(place))
    return sorted(references, key=_PLACE)


def _listed(
    captures: Captures, info: LanguageInfo, source: Source
) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yields the names in a file's export list (`__all__`), by position."""
    nodes = captures.get("reference.listed", [])
    exporting = re.compile(info.exporting.encode()) if nodes and info.exporting else None
    for node, name in zip(nodes, source.texts(nodes), strict=True):
        text = node.parent
        around = text.parent if text is not None else None
        if (
            around is not None
            and exporting is not None
            and name.isidentifier()
            and exporting.match(source.text, around.start_byte)
        ):
            yield node.start_byte, (name, "export")


def _taken(captures: Captures, source: Source, flow: Flow) -> dict[int, tuple[str, str]]:
    """Returns the members that a pattern reads, by position: `f` of `ns` in `const { f } = ns`."""
    nodes = captures.get("reference.taken", ())
    if not nodes:
        return {}
    owners = {
        (row.line, member): owner
        for row in flow.bindings
        if row.how == "="
        for owner, _, member in [row.text.rpartition(".")]
        if owner
    }
    taken: dict[int, tuple[str, str]] = {}
    for node, name in zip(nodes, source.texts(nodes), strict=True):
        pattern = node
        while pattern.parent is not None and pattern.parent.type.endswith("_pattern"):
            pattern = pattern.parent
        # The rows of a pattern of several lines are on its first line.
        owner = owners.get((bisect_right(source.line_starts, pattern.start_byte), name))
        if owner is not None:
            taken[node.start_byte] = (name, owner)
    return taken


def _keys(
    captures: Captures, info: LanguageInfo, source: Source, flow: Flow, found_at: Container[int]
) -> dict[int, tuple[str, str]]:
    """Returns the keys of literals, by position, with the value that has them.

    A short key (`{ a }`) that counts as a bare name already stays one, and so does a `case` for a
    value of unknown type. Any other key that counts as a bare name is replaced, even if its type is
    unknown, because it is no use of that name. A key that does not count yet is added if its type
    is known.
    """
    cases = {node.start_byte for node in captures.get("reference.key.case", ())}
    short = {node.start_byte for node in captures.get("reference.key.short", ())}
    return {
        start: key
        for start, key in literal_keys(captures, info, source, flow.expressions).items()
        if (start not in short if start in found_at and start not in cases else key[1] != UNKNOWN)
    }


def _add_late(
    found_at: dict[int, tuple[str, str]],
    taken: dict[int, tuple[str, str]],
    late: Iterable[tuple[int, str, str, str]],
) -> None:
    """Adds the uses of modules where they are loaded, and the modules as their receivers."""
    for start, name, kind, module in late:
        if found_at.get(start, ("", ""))[1] != "call" or kind == "call":
            found_at[start] = (name, kind)
            taken[start] = (name, module)


def _loaded_uses(
    captures: Captures, info: LanguageInfo, source: Source, flow: Flow
) -> Iterator[tuple[int, str, str, str]]:
    """Yields the uses of modules where they are loaded: position, name, kind and module.

    `require("./a").b` uses `b`; `require("./a")(1)` and `lazy(() => import("./a"))` use the default
    export.
    """
    nodes = captures.get("reference.late", ())
    takers = re.compile(info.late_takers)
    for node in nodes:
        start = node.start_byte
        if node.type == "property_identifier":
            around = node.parent
            owner = around.child_by_field_name("object") if around is not None else None
            module, name = flow.expressions.written(owner), source.slice(start, node.end_byte)
            is_type = owner is not None and owner.type != "parenthesized_expression"
            if is_type and name not in _OF_PROMISES:
                module = module.replace(_PROMISE, "", 1)
            if module[:1] == "'" and _PROMISE not in module:
                yield start, name, "name", module
            continue
        module = flow.expressions.written(node)
        if module[:1] != "'":
            continue
        if module[-1] == "'":
            yield start, _DEFAULT, "call", module
        elif _is_default_used(node, takers, source):
            yield start, _DEFAULT, "name", module[: module.rindex("'") + 1]


def _is_default_used(node: Node, takers: re.Pattern[str], source: Source) -> bool:
    """Whether a function or a key uses the default export of a module that a node loads."""
    around = node.parent
    while around is not None and around.type in _AROUND_LATE:
        name = around.child_by_field_name(_AROUND_LATE[around.type] or "-")
        if name is not None and takers.fullmatch(source.slice(name.start_byte, name.end_byte)):
            return True
        if around.type == "call_expression":
            return False
        around = around.parent
    return False


def _arguments(
    captures: Captures, names: list[str], starts: list[int], source: Source, flow: Flow
) -> tuple[list[int], list[str]]:
    """Returns the number of arguments after each name, and their text."""
    lists = {node.start_byte: node for node in captures.get("call.arguments", ())}
    for node in captures.get("call.open", ()):
        # `f(...)` with literal dots makes `f` a value. It passes no arguments.
        del lists[node.start_byte]
    texts = [""] * len(names)
    text = source.text
    rules = flow.arguments
    marks = {
        node.start_byte: mark for capture, mark in _MARKS for node in captures.get(capture, ())
    }
    if not lists and not rules and not marks:
        return [-1] * len(names), texts
    argument_ordinals: list[int] = []
    for at, (name, start) in enumerate(zip(names, starts, strict=True)):
        end = start + (len(name) if name.isascii() else len(name.encode()))
        while (sign := text[end : end + 1]) in BLANKS:
            end += 1
        if sign == b"!":
            argument_ordinals.append(MACRO)
            continue
        node = lists.get(end)
        types = ""
        if rules and sign == b"<":
            types = rules.generics(end)
            node = node or lists.get(rules.behind(end))
        if node is None:
            argument_ordinals.append(-1)
        elif rules:
            count, texts[at] = rules.written(node)
            argument_ordinals.append(min(count, 127))
        else:
            extra = sum(argument.is_extra for argument in node.named_children)
            argument_ordinals.append(min(node.named_child_count - extra, 127))
        texts[at] = marks.get(start, texts[at])
        if types:
            texts[at] = f"{types}\n{texts[at]}".rstrip()
    return argument_ordinals, texts


def _bound(
    captures: Captures,
    symbols: Symbols,
    imports: Iterable[Import],
    info: LanguageInfo,
    *,
    source: Source,
    flow: Flow,
) -> dict[int, tuple[str, str]]:
    """Returns the names that count because the text binds them, by position, with their kinds."""
    found_at: dict[int, tuple[str, str]] = {}
    bound_here: set[str] = set()
    for capture, kind in BOUND:
        nodes = captures.get(capture)
        if nodes:
            bound_here = bound_here or _known_names(symbols, imports, info)
            names = source.texts(nodes)
            if info.reference_names:
                names = [_plain(name, _last_name(info)) for name in names]
            starts = [node.start_byte for node in nodes]
            at_places = zip(starts, names, strict=True)
            places = [place for place in at_places if place[0] not in symbols.name_starts]
            for start, name in _of_the_file(places, bound_here, info, flow):
                found_at[start] = (name, kind)
    members = captures.get("reference.member")
    if members:
        bound_here = bound_here or _known_names(symbols, imports, info)
        if info.loads:
            # Variables that hold a module.
            bound_here |= {row.name for row in flow.bindings if row.text[:1] == "'"}
        for start, name in _used_members(members, bound_here, info, source):
            if start not in symbols.name_starts:
                found_at[start] = (name, "name")
    return found_at


def _of_the_file(
    places: list[tuple[int, str]], known: set[str], info: LanguageInfo, flow: Flow
) -> Iterator[tuple[int, str]]:
    """Yields the bare names that are not variables of the file, with their positions."""
    always = re.compile(info.bound_names) if info.bound_names else None
    bound = {binding.name for binding in flow.bindings} if info.free_names else set[str]()
    hidden: list[tuple[int, str]] = []
    for start, name in places:
        is_known = name in known or (always is not None and always.fullmatch(name) is not None)
        if is_known or (info.free_names and name not in bound):
            yield start, name
        elif info.free_names:
            hidden.append((start, name))
    scopes = flow.scopes_at([start for start, _ in hidden]) if hidden else []
    for (start, name), scope in zip(hidden, scopes, strict=True):
        # Another scope of this file has a variable of this name; here the name comes from another
        # file.
        if not flow.has_variable(scope, name):
            yield start, name


def _open(
    captures: Captures, symbols: Symbols, source: Source, flow: Flow
) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yields the names that are calls unless a variable has that name, by position."""
    nodes = captures.get("reference.open.call", ())
    starts = [node.start_byte for node in nodes]
    texts = source.texts(nodes)
    for start, name, scope in zip(starts, texts, flow.scopes_at(starts), strict=True):
        if start not in symbols.name_starts and not flow.has_variable(scope, name):
            yield start, (name, "call")


def _used_members(
    members: list[Node], owners: set[str], info: LanguageInfo, source: Source
) -> Iterator[tuple[int, str]]:
    """Yields members of names that the file binds, and of the instance: `self.name`."""
    selves = re.compile(info.selves) if info.selves != ".*" else None
    for node, name in zip(members, source.texts(members), strict=True):
        start = node.start_byte
        before = _OWNER.match(source.slice(max(0, start - _LONGEST_OWNER), start)[::-1])
        if before is None:
            continue
        owner = before[1][::-1]
        if owner in owners or (selves is not None and selves.fullmatch(owner)):
            yield start, name


def _plain(text: str, name: re.Pattern[str]) -> str:
    match = None if text.isidentifier() else name.search(text)
    return match[1] if match else text


def _joined_calls(
    captures: Captures, info: LanguageInfo, source: Source
) -> Iterator[tuple[str, int]]:
    """Yields names in several pieces: `[list insert: x at: 1]` calls `insert:at:`."""
    for node in captures.get("reference.call.joined", ()):
        pieces: list[str] = []
        first = node.start_byte
        for at, child in enumerate(node.children):
            if node.field_name_for_child(at) == info.joined:
                first = first if pieces else child.start_byte
                follower = child.next_sibling
                colon = ":" if follower is not None and follower.type == ":" else ""
                pieces.append(source.slice(child.start_byte, child.end_byte) + colon)
        if pieces:
            yield "".join(pieces), first


@cache
def _last_name(info: LanguageInfo) -> re.Pattern[str]:
    """Returns a pattern that matches the last part of a qualified name in its first group."""
    if info.reference_names:
        return re.compile(info.reference_names)
    separators = "".join(sign for sign in _SEPARATORS if sign not in info.name_characters)
    none = re.escape(separators + _BRACKETS)
    return re.compile(rf"(?:^|[{re.escape(separators)}\s])([^\s{none}]+)\Z")


def _last_names(
    nodes: list[Node], source: Source, last_name: re.Pattern[str]
) -> tuple[list[str], list[int]]:
    """Returns the names of nodes, without their qualifiers, and their positions."""
    texts = source.texts(nodes)
    starts = [node.start_byte for node in nodes]
    if all(map(str.isidentifier, texts)):
        return texts, starts
    names: list[str] = []
    places: list[int] = []
    for node, text, start in zip(nodes, texts, starts, strict=True):
        if text.isidentifier():
            names.append(text)
            places.append(start)
            continue
        match = last_name.search(text[-_LONGEST_NAME:])
        if match:
            names.append(match[1])
            # Invalid UTF-8 grows when decoded.
            places.append(max(start, node.end_byte - len(match[1].encode())))
    return names, places


def _foreign(
    names: list[str], starts: list[int], symbols: Symbols, ignored: frozenset[str]
) -> tuple[list[str], list[int]]:
    """Drops the names of definitions and the built-in names."""
    defined = symbols.name_starts
    if not ignored and defined.isdisjoint(starts):
        return names, starts
    remaining = [
        at
        for at, (name, start) in enumerate(zip(names, starts, strict=True))
        if name not in ignored and start not in defined
    ]
    return [names[at] for at in remaining], [starts[at] for at in remaining]


def _without_type_parameters(
    names: list[str], starts: list[int], symbols: Symbols, parameters: list[Node], source: Source
) -> tuple[list[str], list[int]]:
    """Drops type parameters inside of the definition that declares them."""
    holders: dict[str, set[int]] = {}
    ordered = sorted(parameters, key=lambda node: node.start_byte)
    inside = _owners([node.start_byte for node in ordered], symbols)
    for name, holder in zip(source.texts(ordered), inside, strict=True):
        holders.setdefault(name, set()).add(holder)
    suspects = [at for at, name in enumerate(names) if name in holders]
    owners = dict(zip(suspects, _owners([starts[at] for at in suspects], symbols), strict=True))
    parameter_uses: set[int] = set()
    for at in suspects:
        owner = owners[at]
        while owner not in holders[names[at]] and owner >= 0:
            owner = symbols.symbols[owner].parent
        if owner in holders[names[at]]:
            parameter_uses.add(at)
    remaining = [at for at in range(len(names)) if at not in parameter_uses]
    return [names[at] for at in remaining], [starts[at] for at in remaining]


def _known_names(
    symbols: Symbols, imports: Iterable[Import], info: LanguageInfo | None = None
) -> set[str]:
    left_out = _FIELDS if info is not None and info.known_members else _MEMBERS
    if info is not None and info.bare_fields:
        left_out = frozenset({"method"})
    names = {symbol.name for symbol in symbols.symbols if symbol.kind not in left_out}
    for imported in imports:
        names.add(imported.alias or imported.name or imported.module)
        if not imported.alias and not imported.name:
            parts = _MODULE_PARTS.split(imported.module)
            names.update((parts[0], parts[-1]))
    names -= {"", "*"}
    return names


def _owners(starts: list[int], extracted: Symbols) -> list[int]:
    """Returns the innermost symbol at each position, by the nodes of the symbols."""
    bounds, symbols = [0], [-1]
    ends = [-1]
    inside = [-1]
    for at, frame in enumerate(extracted.frames):
        if frame.index != at or frame.passing:
            continue
        start = frame.tree_start
        while len(ends) > 1 and ends[-1] <= start:
            bounds.append(ends.pop())
            inside.pop()
            symbols.append(inside[-1])
        bounds.append(start)
        symbols.append(at)
        ends.append(frame.tree_end)
        inside.append(at)
    while len(ends) > 1:
        bounds.append(ends.pop())
        inside.pop()
        symbols.append(inside[-1])
    return [symbols[at - 1] for at in map(bisect_right, repeat(bounds), starts)]
