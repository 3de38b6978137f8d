"""Pairs of a description and its code, extracted from one text.

- `doc`: a doc comment or docstring, and its definition without it;
- `comment`: a comment on separate lines, and the lines below it;
- `header`: the first comment of a file, and the code that follows it;
- `name`: the words of a function's name, and its body without them; `test` for a test;
- `path`: the words of a path, and a stretch of the file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from codelens.extract.facts import ParseTimeout, structure
from codelens.extract.tokenizer import WORD, count_terms, parts_of_word, terms_of_word
from codelens.types import Symbol
from training.corpus import SourceText

KINDS = ("doc", "comment", "header", "name", "test", "path")
MOST_OF_A_KIND = {
    "doc": 1200,
    "comment": 1200,
    "header": 200,
    "name": 250,
    "test": 250,
    "path": 220,
}
"""Limits for one package."""
_LEAST_QUERY, _LEAST_CODE = 3, 6
_BODY_BYTES = 3000
_LINES_UNDER = 14
_COMMENT = re.compile(
    r"\s*(//+!?|#+(?!include|define|if|endif|else|pragma|undef)|--+\|?|;;+|%+)\s?(.*)$"
)
_BLOCK = re.compile(
    r"^[ \t]*(/\*+|\(\*+|\{-+)(.*?)(\*+/|\*+\)|-+\})[ \t]*$", re.DOTALL | re.MULTILINE
)
_LEGAL = re.compile(
    r"copyright|licen[cs]e|warrant|spdx|redistribut|all rights|permission is", re.IGNORECASE
)
_NO_PROSE = re.compile(
    r"^[\W\d_]*$|eslint|pylint|noqa|clang-format|nolint|@ts-|prettier|TODO|FIXME"
)
_FUNCTIONS = frozenset({"function", "method"})


class Pair(NamedTuple):
    """The description and the code; terms with their counts."""

    kind: int
    query: dict[str, int]
    code: dict[str, int]
    name: frozenset[str]
    """Terms of the definition's name, which may be left out of the code."""


def pairs_of(source: SourceText) -> Iterator[Pair]:
    """All pairs of one text."""
    try:
        symbols = structure(source.text, source.language).symbols
    except (ParseTimeout, RecursionError):
        return
    text = source.text.decode("utf-8", "replace")
    is_test = re.search(r"(^|[/_.-])(tests?|specs?)([/_.-]|$)", source.path.lower()) is not None
    yield from _of_symbols(source.text, symbols, is_test=is_test)
    yield from _of_comments(text)
    yield from _of_file(source, text)


def _of_symbols(text: bytes, symbols: tuple[Symbol, ...], *, is_test: bool) -> Iterator[Pair]:
    for symbol in symbols:
        body = text[symbol.start_byte : symbol.end_byte][:_BODY_BYTES].decode("utf-8", "replace")
        name = frozenset(terms_of_word(symbol.name))
        if symbol.doc and not _LEGAL.search(symbol.doc):
            said = _counts(symbol.doc)
            code = _counts(body)
            if symbol.doc[:40] in body or _first_words(symbol.doc) in body:
                code = _without(code, said)
            yield from _pair("doc", said, code, name)
        if symbol.kind in _FUNCTIONS and len(parts_of_word(symbol.name)) > 2:
            said = _counts(" ".join(parts_of_word(symbol.name)))
            code = {term: times for term, times in _counts(body).items() if term not in name}
            yield from _pair("test" if is_test else "name", said, code, frozenset())


def _first_words(doc: str) -> str:
    return " ".join(doc.split()[:4])


def _of_comments(text: str) -> Iterator[Pair]:
    """Comments on separate lines, with the code below them."""
    lines = _BLOCK.sub(_as_lines, text).split("\n")
    at = 0
    while at < len(lines):
        said: list[str] = []
        while at < len(lines) and (match := _COMMENT.fullmatch(lines[at])):
            said.append(match.group(2))
            at += 1
        if not said:
            at += 1
            continue
        prose = " ".join(line for line in said if not _NO_PROSE.search(line))
        if _LEGAL.search(prose):
            continue
        under: list[str] = []
        for line in lines[at : at + _LINES_UNDER]:
            if (not line.strip() and len(under) > 1) or _COMMENT.fullmatch(line):
                break
            under.append(line)
        yield from _pair("comment", _counts(prose), _counts("\n".join(under)), frozenset())


def _as_lines(match: re.Match[str]) -> str:
    lines = (line.strip().lstrip("*").strip() for line in match.group(2).split("\n"))
    return "\n".join(f"// {line}" for line in lines)


def _of_file(source: SourceText, text: str) -> Iterator[Pair]:
    lines = _BLOCK.sub(_as_lines, text[:6000]).split("\n")
    said: list[str] = []
    rest = 0
    for at, line in enumerate(lines[:80]):
        match = _COMMENT.fullmatch(line)
        if match is None and line.strip():
            break
        rest = at + 1
        if match is not None:
            said.append(match.group(2))
    paragraphs = re.split(r"\n\s*\n", "\n".join(said))
    prose = "\n".join(part for part in paragraphs if not _LEGAL.search(part))
    following = "\n".join(line for line in lines[rest:] if not _COMMENT.fullmatch(line))
    yield from _pair("header", _counts(prose), _counts(following[:_BODY_BYTES]), frozenset())
    words = _counts(" ".join(source.path.rsplit(".", 1)[0].split("/")[-3:]))
    start = int.from_bytes(hashlib.sha256(source.path.encode("utf-8", "replace")).digest()[:4])
    start %= max(1, len(text) - 1500)
    code = _counts(text[start : start + 1500])
    yield from _pair(
        "path", words, {t: n for t, n in code.items() if t not in words}, frozenset(), 1
    )


def _pair(
    kind: str,
    query: dict[str, int],
    code: dict[str, int],
    name: frozenset[str],
    least: int = _LEAST_QUERY,
) -> Iterator[Pair]:
    if len(query) >= least and len(code) >= _LEAST_CODE:
        yield Pair(KINDS.index(kind), query, code, name)


def _counts(text: str) -> dict[str, int]:
    return count_terms(WORD.findall(text))


def _without(counts: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {
        term: left for term, times in counts.items() if (left := times - other.get(term, 0)) > 0
    }
