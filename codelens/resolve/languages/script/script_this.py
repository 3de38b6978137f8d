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
        here = model.scopes[scope]
        if here.kind == "class" or "this" in model.names[scope]:
            return scope
        if here.kind == "function" and here.symbol >= 0 and is_static(model, here.symbol):
            return scope
        scope = here.parent
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
    member = model.symbols[symbol]
    if not model.is_outside_member(member) or _PROTOTYPE in member.signature:
        return -1
    owner = member.qualified.removesuffix(f".{member.name}")
    entry = model.names[0].get(owner)
    return entry.symbols[0] if entry is not None and len(entry.symbols) == 1 else -1


def added(model: FileModel, symbol: int, name: str) -> tuple[int, ...]:
    """Members that a function or an object was given by assignment: `app.use = ...`."""
    owner = model.symbols[symbol].qualified
    places = model.assigned.get(owner, {}).get(name, ())
    return tuple(at for at in places if _PROTOTYPE not in model.symbols[at].signature)


def is_static(model: FileModel, symbol: int) -> bool:
    """A member is the class's own and not its instances'."""
    member = model.symbols[symbol]
    signature = member.signature
    if "static" not in signature:
        return False
    return "static" in signature[: max(signature.find(member.name), 0)].split()


def is_async(model: FileModel, symbol: int) -> bool:
    """A call of a function gives what has to be awaited."""
    signature = model.symbols[symbol].signature
    return "async" in signature and _ASYNC.search(signature) is not None


def overloads(model: FileModel, path: bytes, symbol: int) -> tuple[int, ...]:
    """A function with the others of its name in its place, without what implements them."""
    function = model.symbols[symbol]
    inside = function.parent >= 0 and model.symbols[function.parent].kind in TYPES
    if symbol in model.unbound or model.is_outside_member(function):
        return (symbol,)
    if not inside and model.home[symbol] < 0:
        return (symbol,)
    if inside:
        places = model.children[function.parent][function.name]
    else:
        entry = model.names[model.home[symbol]].get(function.name)
        places = entry.symbols if entry is not None else ()
    static = is_static(model, symbol)
    overloads_here = tuple(
        at
        for at in places
        if model.symbols[at].kind in CALLABLE and (not inside or is_static(model, at) == static)
    )
    if len(overloads_here) < 2:
        return (symbol,)
    written = not model.spec.untyped and not _is_declared(model, path, overloads_here[-1])
    return overloads_here[:-1] if written else overloads_here


def _is_declared(model: FileModel, path: bytes, symbol: int) -> bool:
    """TypeScript: nothing of it stands there but its type."""
    if path.endswith((b".d.ts", b".d.mts", b".d.cts")):
        return True
    while symbol >= 0:
        definition = model.symbols[symbol]
        head = definition.signature[: max(definition.signature.find(definition.name), 0)].split()
        if (
            definition.kind == "interface"
            or "declare" in head
            or ("abstract" in head and definition.kind != "class")
        ):
            return True
        symbol = definition.parent
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
