"""A pattern's literals rule out lines and files unread; no match is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_index import Store

from codelens.rank.modes import regex_analysis, regex_search

_LETTERS = "aAsSkKiI_\u0130\u0131\u017f\u212aé中"
_ATOMS = st.one_of(
    st.text(_LETTERS, min_size=1, max_size=3),
    st.sampled_from([r"\w", r"\s", r"\b", ".", "^", "$", "[as]", "[^a]", "[a-k]", r"\S", "\ufffd"]),
)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda ways: f"(?:{'|'.join(ways)})"),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{0,2}", "{1,2}", "*?", "+?"])).map(
            lambda both: f"(?:{both[0]}){both[1]}"
        ),
        inner.map(lambda one: f"(?!{one})"),
        inner.map(lambda one: f"(?={one})"),
        inner.map(lambda one: f"(?i:{one})"),
        inner.map(lambda one: f"(?:(a)|s)(?(1){one})"),
    )


PATTERNS = st.recursive(_ATOMS, _larger, max_leaves=6)
TEXTS = st.lists(
    st.one_of(
        st.text(_LETTERS + " -\r", max_size=8).map(str.encode),
        st.binary(max_size=4),
    ),
    max_size=6,
).map(b"\n".join)


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(PATTERNS, st.booleans(), st.lists(TEXTS, min_size=1, max_size=4))
def test_no_matching_line_is_left_out(pattern: str, fold: bool, texts: list[bytes]) -> None:
    compiled, parts = regex_analysis.compiled(f"(?i){pattern}" if fold else pattern)
    required = regex_analysis.required_literals(compiled, parts)
    for text in texts:
        lines = regex_search._analysed(compiled, parts).line_search(1.0)
        every = regex_search.matching_lines(lines, text)
        assert regex_search.matching_lines(lines, text, required.lines(text)) == every


@pytest.mark.parametrize(
    ("pattern", "clauses"),
    [
        (r"aes\w*encrypt", [{"encrypt"}, {"aes"}]),
        (r"(?i)AES\w*Encrypt", [{"encrypt"}, {"aes"}]),
        (r"(save|load)_Model", [{"save_Model", "load_Model"}]),
        (r"(save|load\w*)_Model", [{"_Model"}, {"save", "load"}]),
        (r"[gs]et_X?", [{"get_", "set_", "get_X", "set_X"}]),
        (r"(Ab)+c", [{"Ab"}, {"c"}]),
        (r"Ab*c", [{"A"}, {"c"}]),
        (r"A(?!bc)d", [{"A"}, {"d"}]),
        (r"A(?:b|\w)", [{"A"}]),
        (r"[A-Z]\w+", []),
        (r"A?", []),
    ],
)
def test_literals_required_by_a_pattern(pattern: str, clauses: list[set[str]]) -> None:
    compiled, parts = regex_analysis.compiled(pattern)
    found = regex_analysis.required_literals(compiled, parts).clauses
    assert [{way.decode() for way in clause} for clause in found] == clauses


def test_these_letters_alone_match_a_letter_of_ascii_in_another_case() -> None:
    beyond = "".join(map(chr, range(128, 0x110000)))
    odd = re.findall("[\0-\x7f]", beyond, re.IGNORECASE)
    assert {letter.encode() for letter in odd} == {
        b"\xc4\xb0",
        b"\xc4\xb1",
        b"\xc5\xbf",
        b"\xe2\x84\xaa",
    }


def test_a_file_that_cannot_match_is_not_sent_to_the_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "index.db")
    view = store.view({"a.py": "fetching\n", "b.py": "# nothing\n" * 9})
    sent: list[bytes] = []
    run = regex_search._run  # pyright: ignore[reportPrivateUsage]

    def spy(searched: object, texts: list[bytes], *rest: object) -> object:
        sent.extend(texts)
        return run(searched, texts, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(regex_search, "_run", spy)
    found = store.search(view, r"f\w*etch\w*\w*", mode="regex")
    assert [ranked.file.path for ranked in found.results] == [b"a.py"]
    assert sorted(sent) == [b"", b"fetching\n"]
