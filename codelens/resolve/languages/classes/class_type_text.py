"""Types and signatures as Java, Kotlin, C# and PHP write them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_WILDCARD = re.compile(r"\?\s*(?:extends|super)\s+")
_ANNOTATION = re.compile(r"@[\w.]+(?:\([^()]*\))?\s*")
_VARIANCE = re.compile(r"(?<=[<,])\s*(?:in|out)\s+(?=[\w?])")
_THIS = re.compile(r"\(\s*this\s+(?:ref\s+|in\s+)?([\w.]+(?:<[^()]*?>)?)\s+\w+")
_DELEGATE = re.compile(
    r"\b(?:Func|Action|Predicate|Comparison|Converter|EventHandler|dynamic|event"
    r"|\w*(?:Delegate|Handler|Callback|Factory))\b"
)
_OWN = frozenset({"static", "self", "$this"})
_MOST = 1 << 30
_NOTED = re.compile(r"^(?:@[\w.:]+(?:\((?:[^()]|\([^()]*\))*\))?\s*|\[[^\[\]]*\]\s*)+")
_MODIFIERS = frozenset({"final", "this", "params", "ref", "out", "in", "scoped", "readonly"})


class Arity(NamedTuple):
    """How many arguments a function takes."""

    least: int
    most: int

    def takes(self, count: int) -> bool:
        """Whether it may be called with so many."""
        return self.least <= count <= self.most


INDEXER = "this"
"""The name of an indexer of C#, a property with parameters: `int this[int i]`."""


@lru_cache(maxsize=20_000)
def class_type(text: str) -> str:
    """A type as one that `codelens.resolve.inference.type_text` reads."""
    if text.lstrip("?") in _OWN:
        return "this"
    text = _ANNOTATION.sub("", text).removeprefix("final ").strip()
    text = _WILDCARD.sub("", text).replace("<?", "<any").replace(", ?", ", any")
    text = _VARIANCE.sub(" ", text)
    if "\\" in text:
        # A base of PHP with its namespace comes quoted, as no expression is written so.
        text = text.strip("`").removeprefix("\\")
    text = text.replace("\\", ".").replace("?", "").replace("!", "").replace("global::", "")
    return text[:-3] + "[]" if text.endswith("...") else text


class Parameter(NamedTuple):
    """One parameter of a function."""

    name: str
    type: str
    many: bool = False
    """It takes any number of arguments; in C# its type is then that of the array."""
    receiver: bool = False
    """An extension of C# is called on it."""


@lru_cache(maxsize=20_000)
def parameters(signature: str, name: str, language: str) -> tuple[Parameter, ...] | None:
    """The parameters that a signature of Java, Kotlin or C# says; None if it cannot be read."""
    parts = _listed(signature, name)
    if parts is None:
        return None
    return tuple(_parameter(part, language) for part in parts)


def _parameter(part: str, language: str) -> Parameter:
    part = _NOTED.sub("", _NOTED.sub("", part).removeprefix("final "))
    if language == "kotlin":
        name, _, text = part.partition(":")
        before = name.split()
        return Parameter(before[-1] if before else "", _default(text), "vararg" in before)
    text = _default(part)
    first, blank, rest = text.partition(" ")
    words: set[str] = set()
    while blank and first in _MODIFIERS:
        words.add(first)
        first, blank, rest = rest.partition(" ")
        text = f"{first} {rest}"
    is_variadic = "params" in words or "..." in text
    kind, _, name = text.replace("...", " ").strip().rpartition(" ")
    return Parameter(name, kind.strip(), is_variadic, "this" in words)


def _default(text: str) -> str:
    """Without the value that is taken if there is no argument."""
    return re.split(r"(?<![=<>!])=(?![>=])", text, maxsplit=1)[0].strip()


@lru_cache(maxsize=20_000)
def arity(signature: str, name: str) -> Arity:
    """What the list of parameters behind the name in a signature says."""
    parts = _listed(signature, name)
    if parts is None:
        return Arity(0, _MOST)
    open_ended = any("..." in part or part.startswith(("params ", "vararg ")) for part in parts)
    optional = sum(
        "=" in part or "..." in part or part.startswith(("params ", "vararg ")) for part in parts
    )
    return Arity(len(parts) - optional, _MOST if open_ended else len(parts))


@lru_cache(maxsize=20_000)
def extended(signature: str, name: str, language: str) -> str:
    """The type that an extension is for; empty for what is none."""
    if language == "csharp":
        match = _THIS.search(signature)
    elif f".{name}(" not in signature:
        # Most are none; a pattern of its own for each name costs more than all the rest.
        return ""
    else:
        match = re.search(
            rf"\bfun\s+(?:<[^()]*>\s*)?([\w.]+(?:<[^()]*>)?)\??\.{re.escape(name)}\(", signature
        )
    return match[1] if match else ""


def is_delegate(signature: str) -> bool:
    """Whether a property or field of C# may be called, by the type it is said to have."""
    return _DELEGATE.search(signature) is not None


@lru_cache(maxsize=20_000)
def is_explicit(signature: str, name: str) -> bool:
    """Whether a member of C# is there for an interface alone: `void IList.Add(object x)`."""
    at = signature.find("." + name)
    return at > 0 and "(" not in signature[:at] and "=" not in signature[:at]


@lru_cache(maxsize=20_000)
def generics(signature: str, name: str) -> int:
    """How many type parameters a type has."""
    match = re.search(rf"\b{re.escape(name)}\s*<([^<>]*)>", signature)
    return match[1].count(",") + 1 if match else 0


def _listed(signature: str, name: str) -> list[str] | None:
    """The parameters as written; None if there are none to be seen."""
    at = signature.find(name + "(")
    if at < 0 and name == INDEXER:
        at = signature.find(name + "[")
        return bracketed(signature, at + len(name)) if at >= 0 else None
    if at < 0:
        at = signature.find("(") - len(name)
    if at + len(name) < 0 or "(" not in signature:
        return None
    return bracketed(signature, at + len(name))


def bracketed(signature: str, at: int) -> list[str] | None:
    """The parts between the brackets that open at a position; None if they do not close."""
    depth = 0
    start = at + 1
    parts: list[str] = []
    for end in range(at, len(signature)):
        sign = signature[end]
        if sign in "([{<":
            depth += 1
        elif sign in ")]}" or (sign == ">" and signature[end - 1] not in "-="):
            depth -= 1
            if not depth:
                parts.append(signature[start:end].strip())
                return [part for part in parts if part]
        elif sign == "," and depth == 1:
            parts.append(signature[start:end].strip())
            start = end + 1
    return None
