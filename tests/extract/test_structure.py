"""Properties of the facts of any text, in any language."""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
from itertools import pairwise
from pathlib import Path

import pytest
from extract.rendering import fixture_sources
from hypothesis import given, settings
from hypothesis import strategies as st

from codelens.extract.facts import ParseTimeout, structure, text_structure
from codelens.extract.file_kinds import decode
from codelens.extract.language_settings import languages
from codelens.store.facts.resolution_facts import REFERENCE_KINDS
from codelens.types import Structure

LANGUAGES = [info.name for info in languages()]
PARSED = [info.name for info in languages() if info.grammar]
SOURCES = {path: decode(path.read_bytes()) for path in fixture_sources()}
INSERTS = [
    *(b"(", b"{", b"[", b'"', b"'", b"`", b'"""', b"/*", b"\n", b"\t", b"\0", b"\xff", b"\r", b"<"),
    *(b"#if\n", b"```\n", b"> ", b"- ", b"${", b'f"{', b"def ", b"class A", b"function (", b"@"),
]


def found_in(text: bytes, language: str) -> Structure:
    """Facts of a text; if it cannot be parsed, its facts as plain text."""
    try:
        return structure(text, language)
    except ParseTimeout:
        return text_structure(text)


def check(text: bytes, found: Structure) -> None:
    lines = text.count(b"\n") + 1
    for at, symbol in enumerate(found.symbols):
        assert symbol.name.strip()
        assert symbol.qualified.endswith(symbol.name)
        assert 0 <= symbol.start_byte < symbol.end_byte <= len(text)
        assert 1 <= symbol.start_line <= symbol.name_line <= symbol.end_line <= lines
        assert symbol.start_line == text.count(b"\n", 0, symbol.start_byte) + 1
        assert len(symbol.signature) <= 200
        assert "\n" not in symbol.signature
        assert len(symbol.doc) <= 600
        assert -1 <= symbol.parent < at
        if symbol.parent >= 0:
            parent = found.symbols[symbol.parent]
            assert parent.start_byte <= symbol.start_byte
            assert symbol.end_byte <= parent.end_byte
    for left, right in pairwise(found.symbols):
        assert left.start_byte <= right.start_byte
    for reference in found.references:
        assert reference.name
        assert reference.kind in REFERENCE_KINDS
        assert 1 <= reference.line <= lines
        assert -1 <= reference.symbol < len(found.symbols)
    for one in found.imports:
        assert 1 <= one.line <= lines
    check_chunks(text, found)


def check_chunks(text: bytes, found: Structure) -> None:
    reached = 0
    for chunk in found.chunks:
        assert reached <= chunk.start_byte < chunk.end_byte <= len(text)
        assert not text[reached : chunk.start_byte].strip(), "only blank lines lie between chunks"
        assert chunk.start_byte == 0 or text[chunk.start_byte - 1 : chunk.start_byte] == b"\n"
        assert chunk.end_byte == len(text) or text[chunk.end_byte - 1 : chunk.end_byte] == b"\n"
        assert chunk.start_line == text.count(b"\n", 0, chunk.start_byte) + 1
        assert chunk.end_line == text.count(b"\n", 0, chunk.end_byte - 1) + 1
        assert -1 <= chunk.symbol < len(found.symbols)
        reached = chunk.end_byte
    assert not text[reached:].strip()


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=40, deadline=None)
@given(text=st.binary(max_size=300) | st.lists(st.sampled_from(INSERTS), max_size=80).map(b"".join))
def test_any_bytes_give_sound_facts(language: str, text: bytes) -> None:
    check(text, found_in(text, language))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_damaged_sources_give_sound_facts(source: Path, data: st.DataObject) -> None:
    text = bytearray(SOURCES[source])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        match data.draw(st.sampled_from("cut flip drop insert repeat".split())):
            case "cut":
                del text[at:]
            case "flip" if at < len(text):
                text[at] ^= data.draw(st.integers(1, 255))
            case "drop":
                del text[at : at + data.draw(st.integers(1, 60))]
            case "insert":
                text[at:at] = data.draw(st.sampled_from(INSERTS)) * data.draw(st.integers(1, 20))
            case _:
                text[at:at] = text[max(0, at - data.draw(st.integers(1, 200))) : at]
    check(bytes(text), found_in(bytes(text), source.parent.name))


@pytest.mark.parametrize("language", PARSED)
@pytest.mark.parametrize(
    "text",
    [
        *(b"(" * 60_000, b"[\n" * 60_000, b"{" * 60_000, b"a." * 80_000, b"f(" * 30_000),
        *(b"a+" * 70_000 + b"a", b"> " * 5_000 + b"a", b"- " * 5_000 + b"a", b"<a>" * 20_000),
        b"".join(b" " * level + b"if x:\n" for level in range(600)),
        b"".join(b"  " * level + b"- a\n" for level in range(400)),
    ],
    ids=lambda text: ascii(text[:6]),
)
def test_deep_nesting_ends_soon_and_never_in_a_crash(language: str, text: bytes) -> None:
    check(text, found_in(text, language))


def test_hopeless_text_raises_a_specific_signal() -> None:
    with pytest.raises(ParseTimeout):
        structure(b"(" * 60_000, "python")


def test_facts_are_the_same_each_time() -> None:
    for source, text in SOURCES.items():
        assert structure(text, source.parent.name) == structure(text, source.parent.name)


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
