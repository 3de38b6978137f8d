"""Rust's writing of types, turned into what is read elsewhere."""

from __future__ import annotations

import re
from functools import lru_cache

TUPLE = "#tuple"
_LIFETIME = re.compile(r"'\w+\s*,?\s*")
_HEAD = re.compile(r"(?:&|\*const |\*mut |mut |dyn |impl |for<[^<>]*> ?|\?)\s*")
_PUBLIC = re.compile(r"^(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^()]*\))?\s+)?")
_LEFT_OUT = re.compile(r"^#\[cfg\(not\b")
_BOUND = re.compile(r"\btype\s+\w+(?:<[^<>]*>)?\s*:\s*(.+?);?$")
_SELF = re.compile(r"^(?:&\s*)?(?:'\w+\s+)?(?:mut\s+)?self\b")
_FUNCTION = re.compile(r"\b(?:Fn|FnMut|FnOnce|fn)\s*\(")
_THROUGH = frozenset({"Box", "Rc", "Arc", "Cow", "Pin", "Ref", "RefMut", "ManuallyDrop", "Weak"})
"""Generic types whose members are those of what they hold."""


@lru_cache(maxsize=20_000)
def rust_type(text: str) -> str:
    """A type in Rust's writing as one that `codelens.resolve.inference.type_text` reads.

    References and smart pointers stand for what they hold: members are those of it.
    """
    text = _LIFETIME.sub("", text.strip()).strip()
    while match := _HEAD.match(text):
        text = text[match.end() :].strip()
    if not text or text[0] in "!<":
        return ""
    if text[0] == "[":
        return rust_type(split(text[1:-1], ";")[0]) + "[]"
    if text[0] == "(":
        end = closing(text, 0)
        parts = [rust_type(part) or "any" for part in split(text[1:end])]
        return parts[0] if len(parts) == 1 and "," not in text else f"{TUPLE}<{', '.join(parts)}>"
    if text.startswith(("fn(", "Fn(", "FnMut(", "FnOnce(", "extern ", "unsafe ")):
        arrow = text.rfind("->")
        return f"() => {rust_type(text[arrow + 2 :]) if arrow >= 0 else 'void'}"
    bounds = split(text, "+")
    if len(bounds) > 1:
        return " & ".join(part for part in map(rust_type, bounds) if part)
    opened = text.find("<")
    if opened < 0:
        return text.replace("::", ".")
    name = text[:opened].replace("::", ".").rstrip(".")
    parts = split(text[opened + 1 : closing(text, opened)])
    arguments = [
        rust_type(part.partition("=")[2] if "=" in part else part) or "any" for part in parts
    ]
    if name.rpartition(".")[2] in _THROUGH and arguments:
        return arguments[0]
    return f"{name}<{', '.join(arguments)}>" if arguments else name


def split(text: str, sign: str = ",") -> list[str]:
    """Parts between signs that are in no brackets."""
    parts: list[str] = []
    depth = start = 0
    for at, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}" or (character == ">" and text[at - 1 : at] not in {"-", "="}):
            depth -= 1
        elif character == sign and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def closing(text: str, at: int) -> int:
    """Where the bracket at a position is closed."""
    depth = 0
    for end in range(at, len(text)):
        if text[end] in "([{<":
            depth += 1
        elif text[end] in ")]}" or (text[end] == ">" and text[end - 1] not in "-="):
            depth -= 1
            if not depth:
                return end
    return len(text)


@lru_cache(maxsize=20_000)
def parts_of(signature: str, name: str) -> tuple[str, ...]:
    """The types in the brackets of a tuple struct or variant: `struct Foo(pub Bar, T)`."""
    at = signature.find(name)
    rest = signature[at + len(name) :].lstrip() if at >= 0 else ""
    if rest[:1] == "<":
        rest = rest[closing(rest, 0) + 1 :].lstrip()
    if rest[:1] != "(":
        return ()
    parts = split(rest[1 : closing(rest, 0)])
    return tuple(_PUBLIC.sub("", part) for part in parts if _LEFT_OUT.match(part) is None)


@lru_cache(maxsize=20_000)
def split_arguments(text: str) -> tuple[str, ...]:
    """What stands in the angle brackets of a type, without lifetimes: `T` of `Foo<'a, T>`."""
    at = text.find("<")
    if at < 0:
        return ()
    parts = split(text[at + 1 : closing(text, at)])
    return tuple(part for part in parts if not part.startswith("'"))


def defaults_of(signature: str, name: str) -> tuple[str, ...]:
    """What each type parameter of a definition is by default, empty where it says nothing."""
    at = signature.find(f"{name}<")
    parts = split_arguments(signature[at:]) if at >= 0 else ()
    return tuple(part.partition("=")[2].strip() for part in parts)


def bound_of(signature: str) -> str:
    """What a type must be that a trait leaves open: `type Item: Bound`."""
    match = _BOUND.search(signature)
    return match[1] if match is not None else ""


@lru_cache(maxsize=20_000)
def handed_to(signature: str, name: str, place: int, at: int) -> str:
    """The type that a parameter of a function has that a function takes: `f: impl Fn(Foo)`."""
    taken = [parameter for parameter in parts_of(signature, name) if _SELF.match(parameter) is None]
    if place >= len(taken):
        return ""
    text = taken[place].partition(":")[2].strip()
    if text.isidentifier():
        bound = re.search(rf"\b{text}\s*:\s*(.*)", signature)
        text = bound[1] if bound is not None else ""
    match = _FUNCTION.search(text)
    if match is None:
        return ""
    types = split(text[match.end() : closing(text, match.end() - 1)])
    return types[at] if at < len(types) else ""
