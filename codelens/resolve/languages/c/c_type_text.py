"""Types and signatures as C and C++ write them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from codelens.resolve.languages.classes.class_type_text import bracketed

_WORDS = re.compile(
    r"\b(?:const|volatile|struct|class|enum|union|typename|static|inline|mutable|constexpr"
    r"|extern|register|virtual|explicit|friend)\b\s*"
)
_HOLDING = re.compile(
    r"(?:::)?(?:std(?:::|\.))?(?:unique_ptr|shared_ptr|weak_ptr|optional|reference_wrapper|atomic)"
    r"\s*<(.+)>\s*$"
)
_ITERATOR = re.compile(r"^(.+>)(?:::|\.)(?:const_)?(?:reverse_)?(?:iterator|pointer|reference)$")
_HELD = re.compile(r"^(.+>)(?:::|\.)(?:value_type|element_type)$")
_TAGGED = re.compile(r"^\s*(?:const\s+|volatile\s+)*(?:struct|class|union|enum)\s+(\w+)[\s*&]*$")
_SIZES = frozenset(
    "unsigned signed long short int char float double void bool wchar_t auto".split()
)
_TEMPLATE = re.compile(r"^\s*template\s*<")
_PARAMETER = re.compile(r"(?:typename|class)\b(?:\s*\.\.\.)?\s*(\w+)")
_NAMED_LAST = re.compile(r"^(.*[\s*&>])(\w+)\s*((?:\[[^\]]*\])*)$", re.DOTALL)
_CONST = re.compile(r"\)\s*const\b[^()]*(?:\([^()]*\)[^()]*)*$")
OPERATOR = "operator"
_ALIASED = re.compile(r"^\s*namespace\s+(\w+)\s*=\s*(?:::)?\s*([\w:]+)")


@lru_cache(maxsize=20_000)
def c_type(text: str) -> str:
    """A type of C or C++ as one that `codelens.resolve.inference.type_text` reads.

    Pointers, references and iterators stand for what they lead to.
    """
    text = _WORDS.sub("", text).strip().rstrip("*& ").strip()
    iterator = _ITERATOR.match(text)
    if iterator is not None:
        return f"iterator<{c_type(iterator[1])}>"
    pointer = _HOLDING.match(text)
    if pointer is not None:
        return c_type(pointer[1])
    return text.removeprefix("::").replace("::", ".").replace("*", "").replace("&", "")


@lru_cache(maxsize=20_000)
def tag(text: str) -> str:
    """The name behind `struct` and the like, which is looked for among these alone."""
    match = _TAGGED.match(text)
    return match[1] if match is not None else ""


class CParameter(NamedTuple):
    """One parameter of a function."""

    type: str
    many: bool
    """It takes any number of arguments."""


def _unspaced(signature: str, name: str) -> str:
    """A signature with the name of an operator as symbols have it, for `operator == (`."""
    if not name.startswith(OPERATOR):
        return signature
    sign = name.removeprefix(OPERATOR)
    return re.sub(rf"\boperator\s*{re.escape(sign)}\s*\(", lambda _: f"{name}(", signature, count=1)


@lru_cache(maxsize=20_000)
def c_parameters(signature: str, name: str) -> tuple[CParameter, ...] | None:
    """The parameters that a signature says; None if it cannot be read."""
    signature = _unspaced(signature, name)
    at = signature.find(name + "(")
    if at < 0:
        return None
    parts = bracketed(signature, at + len(name))
    if parts is None:
        return None
    parameters = [_parameter(part) for part in parts]
    return tuple(
        parameter for parameter in parameters if parameter.type != "void" or parameter.many
    )


def _parameter(text: str) -> CParameter:
    text = text.partition("=")[0].strip()
    if "..." in text:
        return CParameter(text.replace("...", "").strip(), many=True)
    named = _NAMED_LAST.match(text)
    if named is not None and named[2] not in _SIZES and _WORDS.sub("", named[1]).strip(" *&"):
        text = named[1].strip() + ("*" if named[3] else "")
    return CParameter(" ".join(text.split()), many=False)


@lru_cache(maxsize=20_000)
def result_type(signature: str, name: str) -> str:
    """What a declaration says before the name; empty if it says no type."""
    signature = _unspaced(signature, name)
    before = signature.partition(name + "(")[0] if name + "(" in signature else ""
    opened = _TEMPLATE.match(before)
    if opened is not None:
        depth, at = 1, opened.end()
        while at < len(before) and depth:
            depth += (before[at] == "<") - (before[at] == ">")
            at += 1
        before = before[at:]
    before = _WORDS.sub("", before).strip()
    return "" if not before or before[-1] in "~:," else before


def is_const(signature: str) -> bool:
    """Whether a method may be called on what is `const`."""
    return _CONST.search(signature) is not None


@lru_cache(maxsize=20_000)
def plain_parameter(text: str) -> str:
    """A parameter's type so that two ways to write it are the same."""
    text = re.sub(r"\bconst\b", "", text) if "*" not in text and "&" not in text else text
    return re.sub(r"\s+|\b(?:struct|class|enum|union)\b|::|\w+::", "", text)


@lru_cache(maxsize=5_000)
def template_parameters(signature: str) -> tuple[str, ...]:
    """The type parameters of a template, by its signature."""
    opened = _TEMPLATE.match(signature)
    if opened is None:
        return ()
    parts = bracketed(signature, opened.end() - 1) or []
    matches = (_PARAMETER.match(part) for part in parts)
    return tuple(match[1] if match is not None else "" for match in matches)


def aliased_namespace(signature: str) -> tuple[str, str] | None:
    """The other name of a namespace and what it stands for: `namespace fs = std::filesystem`."""
    match = _ALIASED.match(signature)
    return (match[1], match[2].replace("::", ".")) if match is not None else None
