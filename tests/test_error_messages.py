"""Error messages: each names an argument the way its reader knows it.

Reads the text of every call of an error class in the code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pytest
from source_trees import FILES, ROOT, tree_of

from codelens.errors import CodelensError, HandleNotFound, InvalidArgument
from codelens.serve.tool_table import ROWS

SERVER, COMMAND_LINE = {"serve"}, {"cli", "hosts"}
"""Packages whose errors reach only callers of tools, and only people at a terminal."""
ARGUMENTS = {argument.name for row in ROWS.values() for argument in row.arguments}
COMMANDS = re.compile(r"`[^`]*`")
"""Commands in backticks, which every reader can run."""
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")
_ANY = "|".join(ARGUMENTS)
NAMED = re.compile(rf"^(?:{_ANY}) must be\b|\b(?:pass|omit) (?:{_ANY})\b|`(?:{_ANY})`")
WITH_UNDERSCORE = re.compile("|".join(rf"\b{name}\b" for name in ARGUMENTS if "_" in name))
ADDRESSED = {"typed", "called"}


class Message(NamedTuple):
    """One text that an error gets."""

    place: str
    role: str
    """Empty, or the parameter that it fills: `typed`, `called`."""
    text: str


def _text(node: ast.expr) -> str:
    """The literal text of an expression, without its placeholders."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "_" for part in node.values)
    if isinstance(node, ast.BinOp | ast.IfExp):
        sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.body, node.orelse)
        return " ".join(_text(side) for side in sides)
    return ""


def _error_names() -> set[str]:
    """Names of `CodelensError` and of all its subclasses."""
    bases = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for tree in map(tree_of, FILES)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    names = {"CodelensError"}
    while more := {name for name in bases if bases[name] & names} - names:
        names |= more
    return names


def _raised(node: ast.Call, errors: set[str]) -> bool:
    function = node.func
    if isinstance(function, ast.Name):
        return function.id in errors
    # The classes themselves pass their texts to `super().__init__`.
    return isinstance(function, ast.Attribute) and function.attr == "__init__"


def messages(*, without: set[str]) -> list[Message]:
    """All texts of errors, except those of some packages."""
    return [one for one in _messages() if one.place.partition("/")[0] not in without]


@cache
def _messages() -> list[Message]:
    return list(_messages_of_files())


def _messages_of_files() -> Iterator[Message]:
    errors = _error_names()
    for file in FILES:
        path = file.relative_to(ROOT)
        for node in ast.walk(tree_of(file)):
            if not isinstance(node, ast.Call) or not _raised(node, errors):
                continue
            place = f"{path.as_posix()}:{node.lineno}"
            if isinstance(node.func, ast.Name) and node.func.id == "InvalidArgument":
                continue
            yield from (Message(place, "", _text(one)) for one in node.args)
            yield from (Message(place, one.arg or "", _text(one.value)) for one in node.keywords)


def test_the_command_line_is_shown_no_names_of_arguments() -> None:
    shown = [one for one in messages(without=SERVER) if one.role != "called"]
    assert len(shown) > 150
    wrong = [
        one
        for one in shown
        if WITH_UNDERSCORE.search(one.text) or NAMED.search(one.text) or "cl_" in one.text
    ]
    assert wrong == []


def test_tools_are_shown_no_options_of_the_command_line() -> None:
    shown = [one for one in messages(without=COMMAND_LINE) if one.role != "typed"]
    assert len(shown) > 150
    assert [one for one in shown if OPTION.search(COMMANDS.sub("", one.text))] == []


def test_each_reader_gets_a_next_step() -> None:
    """An error that gives one reader a next step gives the other one as well."""
    roles: dict[str, set[str]] = {}
    for one in messages(without=set()):
        roles.setdefault(one.place, set()).add(one.role)
    lopsided = {place for place, given in roles.items() if len(given & ADDRESSED) == 1}
    assert lopsided == set()


@pytest.mark.parametrize(
    ("name", "typed"), [("max_tokens", "--max-tokens"), ("kinds", "--kind"), ("limit", "--limit")]
)
def test_an_argument_goes_by_the_name_that_the_caller_knows(name: str, typed: str) -> None:
    error = InvalidArgument(name, "must be at least 1, not 0")
    assert str(error) == f"{typed} must be at least 1, not 0"
    assert error.in_call == f"{name} must be at least 1, not 0"


def test_a_long_text_is_cut_in_its_middle() -> None:
    error = CodelensError("a" * 9_000, typed="type this", called="pass this")
    assert str(error).startswith("aaaa") and str(error).endswith("; type this")
    assert len(error.in_call) < 4_200 and "(5,000 characters left out)" in error.in_call


@pytest.mark.parametrize(
    ("handle", "shown"),
    [
        ("Jekyll%3A%3ASite", "Jekyll::Site"),
        ("a%23b.py#f", "a#b.py#f"),
        ("bell%07.py", "bell%07.py"),
        ("100% of", "100% of"),
        ("%zz%4", "%zz%4"),
    ],
)
def test_a_handle_that_was_not_found_is_shown_as_a_person_writes_it(
    handle: str, shown: str
) -> None:
    assert str(HandleNotFound(handle)).startswith(f"'{shown}' was not found")
    assert HandleNotFound(handle).text == handle
