"""Facts that names are resolved with: scopes, bindings, receivers; packed, a blob a content.

Compressed; inside is the length of a table of distinct texts, the table (NUL between), the number
of scopes and of bindings, then native uint32: three a scope (parent + 1, symbol + 1, kind), five a
binding (scope, name, how, text, line), two a reference (receiver, scope << 8 | arguments + 2) in
the order of `refs`, and two for each of which the arguments are told (its position, their text).
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from hashlib import blake2b
from itertools import chain, repeat
from typing import NamedTuple, get_args

from codelens.types import Binding, Reference, Scope, ScopeKind, Structure

_INNER = frozenset({"=", ":", "?", "let"})
_KINDS: tuple[str, ...] = get_args(ScopeKind)
# Hundreds of thousands are made for a large view; their own `__new__` takes four times as long.
_BINDING: Callable[[tuple[object, ...]], Binding] = partial(tuple.__new__, Binding)  # pyright: ignore[reportUnknownMemberType]
_REFERENCE: Callable[[tuple[object, ...]], Reference] = partial(tuple.__new__, Reference)  # pyright: ignore[reportUnknownMemberType]


def packed(found: Structure) -> bytes:
    """The blob of a content; empty if nothing is to be resolved in it."""
    if not found.references and not found.bindings:
        return b""
    texts: dict[str, int] = {}
    number = texts.setdefault
    scopes = [(one.parent + 1, one.symbol + 1, _KINDS.index(one.kind)) for one in found.scopes]
    bindings = [
        (
            one.scope,
            number(one.name, len(texts)),
            number(one.how, len(texts)),
            number(one.text, len(texts)),
            one.line,
        )
        for one in found.bindings
    ]
    places = [
        (number(one.receiver, len(texts)), one.scope << 8 | min(one.arguments + 2, 255))
        for one in found.references
    ]
    given = [
        (at, number(one.given, len(texts))) for at, one in enumerate(found.references) if one.given
    ]
    table = "\0".join(texts).encode("utf-8", "surrogatepass")
    words = array("I", (len(scopes), len(bindings)))
    words.extend(chain.from_iterable(scopes))
    words.extend(chain.from_iterable(bindings))
    words.extend(chain.from_iterable(places))
    words.extend(chain.from_iterable(given))
    return zlib.compress(array("I", [len(table)]).tobytes() + table + words.tobytes(), 1)


def surface(found: Structure) -> int:
    """Digest of what names in other files can depend on, 63 bits.

    Lines are no part of it, nor are references, nor variables inside a function that says its
    result or has no name: most edits change nothing that others see. Signatures are: how many
    parameters there are, and of which types, decides between overloads.
    """
    kinds = [one.kind for one in found.scopes]
    around: list[int] = []
    for at, one in enumerate(found.scopes):
        around.append(around[one.parent] if one.kind == "block" else at)
    closed = {around[one.scope] for one in found.bindings if one.how == "->"}
    closed |= {
        at for at, one in enumerate(found.scopes) if one.kind == "function" and one.symbol < 0
    }
    rows = [
        (one.scope, one.name, one.how, one.text)
        for one in found.bindings
        if not (
            one.how in _INNER
            and "." not in one.name
            and around[one.scope] in closed
            and kinds[around[one.scope]] == "function"
            and one.name != "self"
        )
    ]
    symbols = [
        (one.name, one.qualified, one.kind, one.parent, one.signature, one.exported)
        for one in found.symbols
    ]
    imports = [one[:3] for one in found.imports]
    scopes = [tuple(one) for one in found.scopes]
    text = repr((symbols, imports, scopes, rows)).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big") >> 1


class Places(NamedTuple):
    """References without receivers and scopes, a sequence a column."""

    names: Sequence[str]
    kinds: Sequence[str]
    lines: Sequence[int]
    columns: Sequence[int]
    symbols: Sequence[int]


def unpacked(data: bytes, places: Places) -> tuple[list[Scope], list[Binding], list[Reference]]:
    """Scopes and bindings of a blob, and the references with receivers and scopes."""
    if not data:
        return [], [], _references(places, repeat(""), repeat(0), repeat(-1), repeat(""))
    data = zlib.decompress(data)
    size: int = array("I", data[:4])[0]
    texts = data[4 : 4 + size].decode("utf-8", "surrogatepass").split("\0")
    text = texts.__getitem__
    words = array("I", data[4 + size :]).tolist()
    scope_count, binding_count = words[:2]
    first, second = 2 + 3 * scope_count, 2 + 3 * scope_count + 5 * binding_count
    scopes = [
        Scope(parent - 1, symbol - 1, _KINDS[kind])
        for parent, symbol, kind in zip(*[iter(words[2:first])] * 3, strict=True)
    ]
    inner = words[first:second]
    names, hows, values = (map(text, inner[at::5]) for at in (1, 2, 3))
    bindings = list(map(_BINDING, zip(inner[::5], names, hows, values, inner[4::5], strict=True)))
    third = second + 2 * len(places.names)
    told = words[second + 1 : third : 2]
    numbers = [one >> 8 for one in told]
    arguments = [(one & 255) - 2 for one in told]
    receivers = map(text, words[second:third:2])
    given = [""] * len(told)
    for at, one in zip(words[third::2], words[third + 1 :: 2], strict=True):
        given[at] = texts[one]
    return scopes, bindings, _references(places, receivers, numbers, arguments, given)


def _references(places: Places, *rest: Iterable[str] | Iterable[int]) -> list[Reference]:
    return list(map(_REFERENCE, zip(*places, *rest, strict=False)))
