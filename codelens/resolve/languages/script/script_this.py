"""JavaScript's `this`: whose it is in a scope, and which members of a class are static."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codelens.resolve.facts.file_model import CALLABLE, TYPES, VARIABLES, FileModel

_ASYNC = re.compile(r"(?:^|[\s(])async(?=\s+[\w$*(<#\[]|[(<*])")
_PROTOTYPE = ".prototype."


def holder(model: FileModel, scope: int) -> int:
    """The scope that says what `this` is: a function with its own, a static method, a class."""
    while scope > 0:
        one = model.scopes[scope]
        if one.kind == "class" or "this" in model.names[scope]:
            return scope
        if one.kind == "function" and one.symbol >= 0 and is_static(model, one.symbol):
            return scope
        scope = one.parent
    return 0


def literal(model: FileModel, symbol: int) -> int:
    """What a function is part of: a variable's object written out, or what it is assigned to.

    -1 if there is none.
    """
    if symbol not in model.unbound:
        return _assigned_to(model, symbol)
    parent = model.symbols[symbol].parent
    return parent if parent >= 0 and model.symbols[parent].kind in VARIABLES else -1


def _assigned_to(model: FileModel, symbol: int) -> int:
    one = model.symbols[symbol]
    if not model.is_outside_member(one) or _PROTOTYPE in one.signature:
        return -1
    owner = one.qualified.removesuffix(f".{one.name}")
    entry = model.names[0].get(owner)
    return entry.symbols[0] if entry is not None and len(entry.symbols) == 1 else -1


def added(model: FileModel, symbol: int, name: str) -> tuple[int, ...]:
    """Members that a function or an object was given by assignment: `app.use = ...`."""
    owner = model.symbols[symbol].qualified
    places = model.assigned.get(owner, {}).get(name, ())
    return tuple(at for at in places if _PROTOTYPE not in model.symbols[at].signature)


def is_static(model: FileModel, symbol: int) -> bool:
    """A member is the class's own and not its instances'."""
    one = model.symbols[symbol]
    signature = one.signature
    if "static" not in signature:
        return False
    return "static" in signature[: max(signature.find(one.name), 0)].split()


def is_async(model: FileModel, symbol: int) -> bool:
    """A call of a function gives what has to be awaited."""
    signature = model.symbols[symbol].signature
    return "async" in signature and _ASYNC.search(signature) is not None


def overloads(model: FileModel, path: bytes, symbol: int) -> tuple[int, ...]:
    """A function with the others of its name in its place, without what implements them."""
    one = model.symbols[symbol]
    inside = one.parent >= 0 and model.symbols[one.parent].kind in TYPES
    if symbol in model.unbound or model.is_outside_member(one):
        return (symbol,)
    if not inside and model.home[symbol] < 0:
        return (symbol,)
    if inside:
        places = model.children[one.parent][one.name]
    else:
        entry = model.names[model.home[symbol]].get(one.name)
        places = entry.symbols if entry is not None else ()
    static = is_static(model, symbol)
    found = tuple(
        at
        for at in places
        if model.symbols[at].kind in CALLABLE and (not inside or is_static(model, at) == static)
    )
    if len(found) < 2:
        return (symbol,)
    written = not model.spec.untyped and not _is_declared(model, path, found[-1])
    return found[:-1] if written else found


def _is_declared(model: FileModel, path: bytes, symbol: int) -> bool:
    """TypeScript: nothing of it stands there but its type."""
    if path.endswith((b".d.ts", b".d.mts", b".d.cts")):
        return True
    while symbol >= 0:
        one = model.symbols[symbol]
        head = one.signature[: max(one.signature.find(one.name), 0)].split()
        if (
            one.kind == "interface"
            or "declare" in head
            or ("abstract" in head and one.kind != "class")
        ):
            return True
        symbol = one.parent
    return False


def of_side(
    model: FileModel, owner: int, places: Sequence[int], *, static: bool
) -> tuple[int, ...]:
    """Of members of one name those of the class itself, or those of its instances."""
    if model.symbols[owner].kind != "class":
        return tuple(places)
    return tuple(
        at
        for at in places
        if model.is_outside_member(model.symbols[at]) or is_static(model, at) == static
    )
