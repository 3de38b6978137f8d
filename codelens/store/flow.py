"""Facts that names are resolved with: scopes, bindings, receivers; packed, a blob a content.

The blob is the length of a table of distinct texts, the table (NUL between), the number of scopes
and of bindings, then native uint32: three a scope (parent + 1, symbol + 1, kind), five a binding
(scope, name, how, text, line), two a reference (receiver, scope) in the order of `refs`.
"""

from __future__ import annotations

from array import array
from itertools import chain
from typing import get_args

from codelens.types import Binding, Reference, Scope, ScopeKind, Structure

_KINDS: tuple[str, ...] = get_args(ScopeKind)


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
    places = [(number(one.receiver, len(texts)), one.scope) for one in found.references]
    table = "\0".join(texts).encode("utf-8", "surrogatepass")
    words = array("I", (len(scopes), len(bindings)))
    words.extend(chain.from_iterable(scopes))
    words.extend(chain.from_iterable(bindings))
    words.extend(chain.from_iterable(places))
    return array("I", [len(table)]).tobytes() + table + words.tobytes()


def unpacked(
    data: bytes, references: list[Reference]
) -> tuple[list[Scope], list[Binding], list[Reference]]:
    """Scopes and bindings of a blob, and the references with receivers and scopes."""
    if not data:
        return [], [], references
    size = array("I", data[:4])[0]
    texts = data[4 : 4 + size].decode("utf-8", "surrogatepass").split("\0")
    words = array("I", data[4 + size :]).tolist()
    scope_count, binding_count = words[:2]
    first, second = 2 + 3 * scope_count, 2 + 3 * scope_count + 5 * binding_count
    scopes = [
        Scope(parent - 1, symbol - 1, _KINDS[kind])
        for parent, symbol, kind in zip(*[iter(words[2:first])] * 3, strict=True)
    ]
    bindings = [
        Binding(scope, texts[name], texts[how], texts[text], line)
        for scope, name, how, text, line in zip(*[iter(words[first:second])] * 5, strict=True)
    ]
    places = zip(*[iter(words[second:])] * 2, strict=True)
    told = [
        Reference(*one[:5], texts[receiver], scope)
        for one, (receiver, scope) in zip(references, places, strict=False)
    ]
    return scopes, bindings, told or references
