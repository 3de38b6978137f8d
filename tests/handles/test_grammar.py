"""The grammar of handles: the meaning of each form; parsing and formatting are inverses."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelens.errors import BadHandle, OutsideWorktree
from codelens.handles.handle_grammar import Handle, format_handle, parse_handle
from codelens.types import RelPath, Span


def of(path: str, **fields) -> Handle:
    return Handle(RelPath(path.encode()), **fields)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("src/auth.py#Session.validate", of("src/auth.py", symbol="Session.validate")),
        ("src/auth.py#Session.validate~2", of("src/auth.py", symbol="Session.validate", ordinal=2)),
        ("src/auth.py:10-42", of("src/auth.py", lines=Span(10, 42))),
        ("src/auth.py:10", of("src/auth.py", lines=Span(10, 10))),
        ("src/auth.py", of("src/auth.py", symbol="src/auth.py", bare=True)),
        ("Session.validate", of("Session.validate", symbol="Session.validate", bare=True)),
        ("validate~2", of("validate~2", symbol="validate", ordinal=2, bare=True)),
        ("std::vector", of("std::vector", symbol="std::vector", bare=True)),
        ("#validate", Handle(symbol="validate")),
        ("#a b~3", Handle(symbol="a b", ordinal=3)),
        ("feature-b:src/auth.py#X", of("src/auth.py", symbol="X", ref="feature-b")),
        ("feat/b:src/auth.py", of("src/auth.py", ref="feat/b")),
        ("HEAD~3:a.py:7", of("a.py", lines=Span(7, 7), ref="HEAD~3")),
        ("main@{1}^:a.py#f", of("a.py", symbol="f", ref="main@{1}^")),
        ("HEAD^{/fix: it}:a.py#f", of("a.py", symbol="f", ref="HEAD^{/fix: it}")),
        ("fix%2312:a.py#f", of("a.py", symbol="f", ref="fix#12")),
        ("a.js#Foo.#priv", of("a.js", symbol="Foo.#priv")),
        ("README.md#Usage: in short", of("README.md", symbol="Usage: in short")),
        ("a.cpp#operator~", of("a.cpp", symbol="operator~")),
        ("a.cpp#Foo.~Foo", of("a.cpp", symbol="Foo.~Foo")),
        ("a.md#v%7E2", of("a.md", symbol="v~2")),
        ("a%3A10", of("a:10", symbol="a:10", bare=True)),
        ("./src//a.py#f", of("src/a.py", symbol="f")),
        ("src/../lib/a.py#f", of("lib/a.py", symbol="f")),
        ("v1:%310:5", of("10", lines=Span(5, 5), ref="v1")),
        ("src/a.py:10:5", of("src/a.py", lines=Span(10, 10))),
        ("v1:src/a.py:10:5", of("src/a.py", lines=Span(10, 10), ref="v1")),
        (" src/a.py#f \r", of("src/a.py", symbol="f")),
        ("a%20", of("a ", symbol="a ", bare=True)),
        ("10#f", of("10", symbol="f")),
    ],
)
def test_a_handle_means_its_literal_path(text: str, meant: Handle) -> None:
    assert parse_handle(text) == meant


@pytest.mark.parametrize(
    "text",
    ["", " ", "#", "a.py#", "a\0b", "main:", "main:#f", "a.py:0", "a.py:9-3", "a.py#~2", "a%00b"],
)
def test_text_of_no_known_form_is_a_bad_handle(text: str) -> None:
    with pytest.raises(BadHandle):
        parse_handle(text)


@pytest.mark.parametrize(
    "text",
    ["../x.py", "a/../../x.py:3", "%2E%2E/x", "/etc/passwd", "C:\\x\\y.py#f", "c:/x", "a/../.."],
)
def test_a_path_that_leads_out_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(OutsideWorktree):
        parse_handle(text, str(tmp_path))


def test_an_absolute_path_inside_the_root_is_taken_as_relative(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    assert parse_handle(f"{root}/src/a.py#f", str(root)) == of("src/a.py", symbol="f")
    assert parse_handle(f"{root}/src/a.py:3", str(root)) == of("src/a.py", lines=Span(3, 3))
    assert parse_handle(str(root), str(root)).path == b""


def test_an_absolute_path_through_a_link_to_the_root_is_taken_as_relative(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    (tmp_path / "link").symlink_to(root)
    assert parse_handle(f"{tmp_path}/link/src/a.py#f", str(root)) == of("src/a.py", symbol="f")


def test_a_folder_whose_name_only_starts_like_the_root_is_outside(tmp_path: Path) -> None:
    with pytest.raises(OutsideWorktree):
        parse_handle(f"{tmp_path}/repository/a.py", f"{tmp_path}/repo")


_PART = st.binary(min_size=1, max_size=8).filter(
    lambda part: b"/" not in part and b"\0" not in part and part not in {b".", b".."}
) | st.sampled_from([b"10", b"3-4", b"a:1", b"c#", b"C:", b"\\x", b"a%23", b"x~2", b"\xff", b" "])
_PATHS = st.lists(_PART, min_size=1, max_size=4).map(lambda parts: RelPath(b"/".join(parts)))
_NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12
) | st.sampled_from(["a~2", "~2", "%41", "operator~", "x::y", "a:10", "#", "C#~1", "a\u202eb"])
_REFS = st.sampled_from(
    ["", "main", "feat/b", "HEAD~3", "main@{1}", "v1^", "HEAD^{/a: b}", "fix#1", "C", "10", "a%41"]
)
_ORDINALS = st.integers(1, 999_999)
_LINES = st.integers(1, 99_999).flatmap(
    lambda start: st.integers(start, 99_999).map(lambda end: Span(start, end))
)
_HANDLES = (
    st.builds(Handle, _PATHS, symbol=_NAMES, ordinal=_ORDINALS, ref=_REFS)
    | st.builds(Handle, _PATHS, lines=_LINES, ref=_REFS)
    | st.builds(Handle, _PATHS, ref=_REFS.filter(bool))
    | st.builds(Handle, symbol=_NAMES, ordinal=_ORDINALS)
)


@given(_HANDLES)
def test_a_handle_is_read_back_from_its_text(handle: Handle) -> None:
    text = format_handle(handle)
    assert parse_handle(text) == handle
    assert format_handle(parse_handle(text)) == text


@given(_PATHS)
def test_the_handle_of_a_whole_file_names_its_path(path: RelPath) -> None:
    back = parse_handle(format_handle(Handle(path)))
    assert (back.path, back.lines, back.ref, back.bare) == (path, None, "", True)


@given(_HANDLES)
def test_the_text_of_a_handle_can_be_shown_on_a_terminal(handle: Handle) -> None:
    text = format_handle(handle)
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in text)
    text.encode("utf-8")


@given(st.text(max_size=30))
def test_any_text_parses_or_raises_a_codelens_error(text: str) -> None:
    with suppress(BadHandle, OutsideWorktree):
        parse_handle(text, os.sep)
