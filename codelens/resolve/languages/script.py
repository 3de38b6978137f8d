"""Determines `this`, static members and overloads in JavaScript and TypeScript."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from codelens.resolve.file_model import CALLABLE, TYPES, VARIABLES, FileModel
from codelens.resolve.inference.type_text import bracketed, closing, split
from codelens.resolve.languages.registry import LanguageSpec

_ASYNC = re.compile(r"(?:^|[\s(])async(?=\s+[\w$*(<#\[]|[(<*])")
_PROTOTYPE = ".prototype."


def holder(model: FileModel, scope: int) -> int:
    """Return the scope that defines `this`: a function with its own, a static method, a class."""
    while scope > 0:
        here = model.scopes[scope]
        if here.kind == "class" or "this" in model.names[scope]:
            return scope
        if here.kind == "function" and here.symbol >= 0 and is_static(model, here.symbol):
            return scope
        scope = here.parent
    return 0


def literal(model: FileModel, symbol: int) -> int:
    """Return the variable that holds a function, in an object literal or by an assignment.

    -1 without one.
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
    """Return the members assigned to a function or an object: `app.use = ...`."""
    owner = model.symbols[symbol].qualified
    places = model.assigned.get(owner, {}).get(name, ())
    return tuple(at for at in places if _PROTOTYPE not in model.symbols[at].signature)


def is_static(model: FileModel, symbol: int) -> bool:
    """Whether a member belongs to the class itself and not to its instances."""
    member = model.symbols[symbol]
    signature = member.signature
    if "static" not in signature:
        return False
    return "static" in signature[: max(signature.find(member.name), 0)].split()


def is_async(model: FileModel, symbol: int) -> bool:
    """Whether a call of a function returns a promise."""
    signature = model.symbols[symbol].signature
    return "async" in signature and _ASYNC.search(signature) is not None


def overloads(model: FileModel, path: bytes, symbol: int) -> tuple[int, ...]:
    """Return the overload signatures of a function, without the implementation."""
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
    """Whether a TypeScript symbol only declares a type."""
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
    """Return either the static members or the instance members among those of one name."""
    if model.symbols[owner].kind != "class":
        return tuple(places)
    return tuple(
        at
        for at in places
        if model.is_outside_member(model.symbols[at]) or is_static(model, at) == static
    )


# Overload resolution in TypeScript by the arguments of a call.
#
# Each argument is one letter: `s` string, `n` number, `b` boolean, `z` null, `r` object literal,
# `a` array literal, `f` function literal, `u` anything else. A leading `<` means that type
# arguments are given, a `*` that an unknown number of further arguments follows.

_OPEN, _CLOSE = frozenset("([{<"), frozenset(")]}")
_PLAIN = {"s": {"string"}, "n": {"number"}, "b": {"boolean"}, "z": {"null", "undefined", "void"}}
_BUILTIN = frozenset("string number boolean symbol null undefined void never object".split())
_FORMS = (
    (re.compile(r"(?:[(<]|new\b).*=>"), "f"),
    (re.compile("['\"`]"), "s"),
    (re.compile(r"[-\d]"), "n"),
    (re.compile(r"(?:true|false)$"), "b"),
    (re.compile(r"\[|.*\[\]$"), "a"),
)
"""The types that only arguments with the given mark can have."""
_ANYTHING = frozenset({"any", "unknown"})
_WORD = re.compile(r"[^\W\d][\w$]*")


class _Signature(NamedTuple):
    """The part of a signature that a call must match."""

    types: tuple[str, ...]
    least: int
    many: bool
    free: frozenset[str]
    """Type parameters that accept anything."""
    generics: int
    varies: bool
    """Whether a parameter's type contains a type parameter."""


def meant(written: Sequence[tuple[str, str]], arguments: str) -> list[int]:
    """Return the indexes of the overloads that a call may mean, up to the first certain match.

    Args:
        written: the signatures of the overloads, each with the name in it.
        arguments: the marks of the call's arguments, in brackets.
    """
    fitting: list[int] = []
    seen: set[tuple[tuple[str, ...], int, bool]] = set()
    marks = arguments[1:-1]
    for at, (text, name) in enumerate(written):
        signature = _read(text, name)
        fits = None if signature is None else _fits(signature, marks)
        if fits is False:
            continue
        if signature is not None and marks[:1] != "<" and not signature.varies:
            # An earlier overload with the same parameters shadows this one.
            if signature[:3] in seen:
                continue
            seen.add(signature[:3])
        fitting.append(at)
        if fits:
            break
    return fitting or list(range(len(written)))


def _fits(signature: _Signature, marks: str) -> bool | None:
    """Whether a call matches; None if it is unclear."""
    if marks[:1] == "<":
        return None if signature.generics else False
    arguments, _, _ = marks.partition("*")
    if len(arguments) > len(signature.types) and not signature.many:
        return False
    if marks != arguments:
        return None
    if len(arguments) < signature.least:
        return False
    if signature.many:
        return None
    answers = [
        _takes(text, mark, signature.free)
        for text, mark in zip(signature.types, arguments, strict=False)
    ]
    return False if False in answers else None if None in answers else True


def _takes(text: str, mark: str, free: frozenset[str]) -> bool | None:
    """Whether a parameter of a type accepts an argument; None if it is unclear."""
    if "?" in text:
        return None
    answers = [_is(part, mark, free) for part in split(text, "|") or [""]]
    return True if True in answers else None if None in answers else False


def _is(part: str, mark: str, free: frozenset[str]) -> bool | None:
    if part in _ANYTHING or part in free:
        return True
    if mark == "u":
        return None
    if part in _BUILTIN:
        return part in _PLAIN.get(mark, {"object"})
    needed = next((expected for form, expected in _FORMS if form.match(part)), mark)
    return None if mark == needed else False


@lru_cache(maxsize=20_000)
def _read(signature: str, name: str) -> _Signature | None:
    """Parse the parameters of a signature; None if it cannot be parsed."""
    at = signature.find(name) + len(name)
    generics: list[str] | None = []
    if signature[at : at + 1] == "?":
        at += 1
    if signature[at : at + 1] == "<":
        generics = bracketed(signature, at)
        at = closing(signature, at) + 1
    if generics is None or signature[at : at + 1] != "(":
        return None
    parts = bracketed(signature, at)
    if parts is None:
        return None
    types: list[str] = []
    least, is_variadic = 0, False
    for part in parts:
        head, _, text = _cut(part)
        if head == "this":
            continue
        is_variadic |= head.startswith("...")
        types.append(text)
        if not head.endswith("?") and not is_variadic:
            least = len(types)
    free = frozenset(generic for generic in generics if _WORD.fullmatch(generic))
    names = {
        word for generic in generics for word in _WORD.findall(generic.partition(" extends ")[0])
    }
    varies = any(names.intersection(_WORD.findall(text)) for text in types)
    return _Signature(tuple(types), least, is_variadic, free, len(generics), varies)


def _cut(part: str) -> tuple[str, str, str]:
    """Split a parameter into name, colon and type."""
    depth = 0
    for at, sign in enumerate(part):
        depth += (sign in _OPEN) - (sign in _CLOSE)
        if sign == ":" and not depth:
            return part[:at].strip(), ":", part[at + 1 :].strip()
    return part.strip(), "", "any"


# The language descriptions of JavaScript and TypeScript, and of files that embed them.

_SCRIPT = LanguageSpec(
    fields_are_inherited=True,
    modules="script_modules:ScriptModules",
    settings=(b"package.json", b"tsconfig*.json", b"jsconfig*.json"),
    follows_names=True,
    needs_receiver=True,
    spaces=True,
    instance=frozenset({"this"}),
    stubs=(
        (b".d.ts", (b".js", b".jsx")),
        (b".d.mts", (b".mjs",)),
        (b".d.cts", (b".cjs",)),
    ),
    stub_language="typescript",
    constructors=frozenset({"constructor"}),
    imports_are_complete=True,
)
_UNCHECKED = replace(_SCRIPT, any_arguments=True)
_TYPESCRIPT = replace(_SCRIPT, overload_declarations=True, optional_members=True)
SPECS = {
    "javascript": replace(_UNCHECKED, untyped=True),
    "typescript": _TYPESCRIPT,
    "tsx": replace(_TYPESCRIPT, shares_types_with="typescript"),
    "vue": replace(_UNCHECKED, is_component=True),
    "svelte": replace(_UNCHECKED, is_component=True),
    "astro": replace(_UNCHECKED, is_component=True),
    "mdx": replace(_UNCHECKED, is_component=True),
    "angular": _UNCHECKED,
    "html": replace(_UNCHECKED, follows_names=False, imports_are_complete=False),
}
