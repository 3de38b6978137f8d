"""Properties of the facts of any text, in any language."""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
from pathlib import Path

import pytest
from extract.hostile import check_facts
from hypothesis import given, settings
from hypothesis import strategies as st

from codelens.extract.facts import ParseTimeout, structure
from codelens.extract.language_settings import languages
from codelens.types import Structure

LANGUAGES = [info.name for info in languages()]
INSERTS = [
    *(b"(", b"{", b"[", b'"', b"'", b"`", b'"""', b"/*", b"\n", b"\t", b"\0", b"\xff", b"\r", b"<"),
    *(b"#if\n", b"```\n", b"> ", b"- ", b"${", b'f"{', b"def ", b"class A", b"function (", b"@"),
]


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=40, deadline=None)
@given(text=st.binary(max_size=300) | st.lists(st.sampled_from(INSERTS), max_size=80).map(b"".join))
def test_any_bytes_give_sound_facts(language: str, text: bytes) -> None:
    check_facts(text, language)


@pytest.mark.parametrize("language", ["cpp", "csharp", "kotlin", "php", "ruby", "rust"])
@pytest.mark.parametrize("text", [b"/in)", b"*a)", b"+ b", b"a = + b", b"[0]", b"(1)"])
def test_an_operator_without_its_operand_gives_sound_facts(language: str, text: bytes) -> None:
    check_facts(text, language)


def test_hopeless_text_raises_a_specific_signal() -> None:
    with pytest.raises(ParseTimeout):
        structure(b"(" * 60_000, "python")


def test_an_empty_text_has_no_facts() -> None:
    for language in LANGUAGES:
        assert structure(b"", language) == Structure((), (), (), ())
        assert structure(b"\n \n", language) == Structure((), (), (), ())


ASSIGNED = re.compile(r"[\w.]+\s*(:[^=]+)?=")
"""codelens treats `f = lambda: 1` as a function, Python as an assignment."""
STDLIB = Path(sysconfig.get_path("stdlib"))
SAMPLE = [
    *("argparse.py", "ast.py", "asyncio/base_events.py", "collections/__init__.py"),
    *("dataclasses.py", "decimal.py", "difflib.py", "email/message.py", "enum.py", "functools.py"),
    *("inspect.py", "json/decoder.py", "logging/__init__.py", "pathlib.py", "pdb.py", "pickle.py"),
    *("shutil.py", "tarfile.py", "tempfile.py", "typing.py", "unittest/mock.py", "zipfile.py"),
]


@pytest.mark.parametrize("name", [name for name in SAMPLE if (STDLIB / name).is_file()])
def test_definitions_in_python_are_those_of_its_own_parser(name: str) -> None:
    text = (STDLIB / name).read_bytes()
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    expected = sorted(
        (node.lineno, node.name, min([node.lineno, *(one.lineno for one in node.decorator_list)]))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, kinds)
    )
    found = sorted(
        (symbol.name_line, symbol.name, symbol.start_line)
        for symbol in structure(text, "python").symbols
        if symbol.kind in {"function", "method", "class", "enum", "property"}
        and not ASSIGNED.match(symbol.signature)
    )
    assert found == expected


def test_recursion_is_not_used() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(160)
    try:
        found = structure(b"def f(a=" + b"[" * 900 + b"]" * 900 + b"): pass\n", "python")
    finally:
        sys.setrecursionlimit(limit)
    assert [symbol.name for symbol in found.symbols] == ["f"]


def test_the_comment_of_a_class_does_not_belong_to_the_package_above() -> None:
    text = b"package lamp\n\n/**\n * Dims.\n */\nclass Lamp {\n}\n"
    package, lamp = structure(text, "kotlin").symbols
    assert (package.start_line, package.end_line, package.end_byte) == (1, 1, len(b"package lamp"))
    assert (lamp.start_line, lamp.doc) == (6, "Dims.")
