"""Go's writing of types and build constraints, turned into what is read elsewhere."""

from __future__ import annotations

import re
from functools import lru_cache

TUPLE = "#tuple"
"""Several results as one generic type."""
STRUCT = "#struct"
"""A nameless struct: a generic type with its fields as arguments, `#name<type>`."""
_WORD = re.compile(r"[^\W\d]\w*")
_POINTED = re.compile(r"^(?:[*&~]|chan<-|<-chan|chan )\s*")
_KEYWORDS = frozenset({"chan", "map", "func", "struct", "interface"})
_FIELD = re.compile(r"(\w+(?:, ?\w+)*) ((?:[\[\]*.\w])+)(?= |;|$)")
_CONSTRAINT = re.compile(r"\|\||&&|[!()]|[\w.]+")
_TAGS = frozenset({"linux", "unix", "amd64", "gc", "cgo"})


@lru_cache(maxsize=20_000)
def go_type(text: str) -> str:
    """A type in Go's writing as one that `codelens.resolve.inference.type_text` reads.

    Pointers and channels stand for what they hold: members are those of it.
    """
    text = text.strip()
    while (bare := _POINTED.sub("", text)) != text:
        text = bare
    if text.startswith("..."):
        return go_type(text[3:]) + "[]"
    if text[:1] == "[":
        return go_type(text[_closing(text, 0) + 1 :]) + "[]"
    if text.startswith(("map[", "() => ", "func(", "struct", "interface")):
        return _spelled(text)
    if text[:1] == "(":
        parts = _listed(text[1 : _closing(text, 0)])
        return parts[0] if len(parts) == 1 else f"{TUPLE}<{', '.join(parts)}>"
    opened = text.find("[")
    if opened > 0:
        parts = [go_type(part) or "any" for part in _split(text[opened + 1 : -1])]
        return f"{text[:opened]}<{', '.join(parts)}>"
    return text


def _spelled(text: str) -> str:
    """Types that begin with a word of the language."""
    if text.startswith("map["):
        end = _closing(text, 3)
        return f"Map<{go_type(text[4:end])}, {go_type(text[end + 1 :])}>"
    if text.startswith("() => "):
        return f"() => {go_type(text[6:])}"
    if text.startswith("func("):
        return f"() => {go_type(text[_closing(text, 4) + 1 :]) or 'void'}"
    if text.startswith("struct") and "{" in text:
        return _struct(text[text.index("{") + 1 : -1])
    return ""


def _struct(text: str) -> str:
    fields: list[str] = []
    for names, kind in _FIELD.findall(text):
        fields += [f"#{name.strip()}<{go_type(kind) or 'any'}>" for name in names.split(",")]
    return f"{STRUCT}<{', '.join(fields)}>" if fields else ""


def _listed(text: str) -> list[str]:
    """Types of a list of results, with names (`a, b int`) or without."""
    parts = _split(text)
    named = any(_is_named(part) for part in parts)
    types: list[str] = []
    for part in reversed(parts):
        if not named:
            types.append(go_type(part) or "any")
        elif _is_named(part):
            types.append(go_type(part.partition(" ")[2]) or "any")
        else:
            types.append(types[-1] if types else "any")
    return types[::-1]


def _is_named(part: str) -> bool:
    word = _WORD.match(part)
    return word is not None and part[word.end() :][:1] == " " and word[0] not in _KEYWORDS


def _split(text: str) -> list[str]:
    """Parts between the commas that are in no brackets."""
    parts: list[str] = []
    depth = start = 0
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _closing(text: str, at: int) -> int:
    """Where the bracket at a position is closed."""
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] in "([{") - (text[end] in ")]}")
        if not depth:
            return end
    return len(text)


@lru_cache(maxsize=1_000)
def is_built(constraint: str) -> bool:
    """Whether a build constraint holds on Linux, with no tags of the project's own."""
    tokens = _CONSTRAINT.findall(constraint)

    def alternatives(at: int) -> tuple[bool, int]:
        holds, at = conjunction(at)
        while tokens[at : at + 1] == ["||"]:
            more, at = conjunction(at + 1)
            holds = holds or more
        return holds, at

    def conjunction(at: int) -> tuple[bool, int]:
        holds, at = negation(at)
        while tokens[at : at + 1] == ["&&"]:
            more, at = negation(at + 1)
            holds = holds and more
        return holds, at

    def negation(at: int) -> tuple[bool, int]:
        word = tokens[at] if at < len(tokens) else ""
        if word == "!":
            holds, at = negation(at + 1)
            return not holds, at
        if word == "(":
            holds, at = alternatives(at + 1)
            return holds, at + 1
        return word in _TAGS or word.startswith("go1."), at + 1

    return alternatives(0)[0]


def signature_types(signature: str, name: str) -> tuple[str, ...] | None:
    """What a method takes, then `->`, then what it gives, as types alone; None if it is cut off."""
    text = signature
    if text.startswith("func ("):
        text = text[_closing(text, 5) + 1 :].strip()
    if not text.startswith(f"{name}("):
        return None
    end = _closing(text, len(name))
    if end >= len(text):
        return None
    result = text[end + 1 :].strip()
    if result.startswith("(") and _closing(result, 0) == len(result) - 1:
        result = result[1:-1]
    return (*_written(text[len(name) + 1 : end]), "->", *_written(result))


def parameter_count(signature: str, name: str) -> int:
    """How many parameters a method has; -1 if its signature is cut off."""
    types = signature_types(signature, name)
    return types.index("->") if types is not None else -1


def _written(text: str) -> list[str]:
    """The types of a list of parameters or results as they stand there, one for each."""
    parts = _split(text)
    if not any(_is_named(part) for part in parts):
        return parts
    types: list[str] = []
    for part in reversed(parts):
        # `a, b int`: who has no type has that of the next.
        own = part.partition(" ")[2] if _is_named(part) else types[-1] if types else part
        types.append(own.strip())
    return types[::-1]
