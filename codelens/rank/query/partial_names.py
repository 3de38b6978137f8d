"""Finds names and files by a part of their name, and puts unique and quoted matches first.

`Sess` is a prefix of `Session`, `ession` a piece of it, `vldSess` has letters of `validateSession`
in order. Partial matches rank below exact ones, and the reason says how they match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from codelens.paths import matching_parts, printed
from codelens.rank.pasted.query_forms import definitions
from codelens.rank.query import query_analysis
from codelens.rank.query.query_analysis import Defined, Name
from codelens.rank.scoring.definition_features import Judged
from codelens.rank.search_request import Ranked
from codelens.rank.search_state import SearchState, before
from codelens.store.facts import vocabulary
from codelens.store.facts.resolution_facts import key_of
from codelens.store.views.views import FileRow

PREFIX, PIECE, LETTERS = 0, 1, 2
_SHORTEST = {PREFIX: 2, PIECE: 3, LETTERS: 4}
_REASONS = {PREFIX: "begins with", PIECE: "contains", LETTERS: "fits the abbreviation"}
_NAMES = 5
_FILES = 3
_OMITTED = bytes(byte for byte in range(1, 128) if not chr(byte).isalnum() and chr(byte) != "/")
"""The ASCII characters of a path that its key lacks."""
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_]+")


class Partial(NamedTuple):
    """The names and places that contain a part of a name."""

    names: list[str]
    places: list[Ranked]


def partial_names(
    state: SearchState, name: Name, tiers: Sequence[int] = (PREFIX, PIECE)
) -> Partial:
    """Return definitions, then files, whose names contain an undefined name.

    The first tier with a match counts; within it shorter names come first.
    """
    typed = name.parts[-1]
    key = key_of(typed)
    if len(key) < _SHORTEST[PREFIX] or not key.isascii() or not key.isalnum():
        return Partial([], [])
    tier, defined = _definitions(state, name, key, tiers)
    shown = list(dict.fromkeys(definition.symbol.name for definition in defined))
    places: list[Ranked] = []
    for called in shown:
        here = [definition for definition in defined if definition.symbol.name == called]
        places += definitions(state, here, f"name {_REASONS[tier]} {typed}: {called}")[:1]
    files = _files(state, typed, key) if PIECE in tiers else []
    return Partial(shown, [*places, *files])


def _definitions(
    state: SearchState, name: Name, key: str, tiers: Sequence[int]
) -> tuple[int, list[Defined]]:
    typed = name.parts[-1]
    keys: dict[int, list[str]] = {}
    known_keys = vocabulary.keys_with_letters if LETTERS in tiers else vocabulary.keys_holding
    for name_key in known_keys(state.view.db, key):
        if name_key != key:
            keys.setdefault(_tier(key, name_key), []).append(name_key)
    for tier in tiers:
        if len(key) < _SHORTEST[tier]:
            break
        definitions: list[Defined] = []
        for name_key in sorted(keys.get(tier, ()), key=lambda part: (len(part), part)):
            parts = (*name.parts[:-1], name_key)
            here = [
                definition
                for definition in query_analysis.defined_names(
                    state.view, [Name(".".join(parts), parts)]
                )
                if _matches(definition, tier, typed)
                and (not state.filters.active or state.filters.keep([definition.file]))
            ]
            definitions += here
            if len({definition.symbol.name for definition in definitions}) >= _NAMES:
                break
        if definitions:
            return tier, definitions
    return LETTERS, []


def _matches(definition: Defined, tier: int, typed: str) -> bool:
    if definition.symbol.kind in {"heading", "key"}:
        return False
    return tier != LETTERS or abbreviates(typed, definition.symbol.name)


def _tier(key: str, name_key: str) -> int:
    if name_key.startswith(key):
        return PREFIX
    return PIECE if key in name_key else LETTERS


def abbreviates(typed: str, name: str) -> bool:
    """Whether the parts of `typed` are letters, in order, of successive words of a name.

    Each part starts with the first letter of its word: `vldSess` and `vldsess` fit
    `validate_session`.
    """
    words = [part.lower() for part in _PARTS.findall(name)]
    parts = [part.lower() for part in _PARTS.findall(typed)]
    if len(parts) == 1:
        return bool(words) and words[0][:1] == parts[0][:1] and _in_order(parts[0], "".join(words))
    rest = iter(words)
    return all(
        any(word[:1] == part[:1] and _in_order(part, word) for word in rest) for part in parts
    )


def _in_order(letters: str, text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in letters)


def _likely(files: Sequence[FileRow], key: str) -> Sequence[FileRow]:
    """Preselect the files whose paths may contain a key, so that few are checked one by one."""
    if not key.isascii():
        return files
    # Characters that a key omits may separate any two of its letters.
    names = b"\0".join([file.path for file in files]).lower().translate(None, _OMITTED)
    numbers = set(matching_parts(names, re.compile(re.escape(key.encode()))))
    # Keys fold other letters to ASCII.
    if not names.isascii():
        numbers.update(matching_parts(names, _NOT_ASCII))
    return [files[number] for number in sorted(numbers)]


def _files(state: SearchState, typed: str, key: str) -> list[Ranked]:
    """Return files whose stems start with or contain what was typed."""
    if len(key) < _SHORTEST[PIECE]:
        return []
    graded: list[tuple[int, int, bytes]] = []
    for file in _likely(state.view.files, key):
        stem = file.path.rpartition(b"/")[2].split(b".")[0].decode("utf-8", "replace")
        stem_key = key_of(stem)
        if key in stem_key and stem_key != key:
            graded.append((_tier(key, stem_key), len(file.path), file.path))
    shown: list[Ranked] = []
    for tier, _, path in sorted(graded)[: _FILES * 4]:
        file = state.view.by_path[path]
        if state.filters.active and not state.filters.keep([file]):
            continue
        about = state.view.about([file.content] if file.content is not None else [])
        last = max((content.lines for content in about.values()), default=1)
        reason = f"file name {_REASONS[tier]} {typed}: {printed(path.rpartition(b'/')[2])}"
        shown.append(Ranked(file, 1, max(last, 1), "file", -1, 1.0, reason, "", {}))
        if len(shown) == _FILES:
            break
    return shown


# Puts the only definition of an exact name first, regardless of its kind and place.

_PROSE = frozenset({"heading", "key"})


def unique_first(
    state: SearchState, defined: Sequence[Defined], results: list[Ranked]
) -> list[Ranked]:
    """Put the only definition with the exact name first.

    Headings and data keys count only if the query is written as a name.
    """
    if not state.query.single:
        return results
    named = [
        definition
        for definition in defined
        if definition.grade > query_analysis.LAST
        and (not state.filters.active or state.filters.keep([definition.file]))
    ]
    code = [definition for definition in named if definition.symbol.kind not in _PROSE]
    if not code and query_analysis.looks_like_name(state.query.text):
        code = named
    exact = [definition for definition in code if definition.grade == query_analysis.EXACT]
    # A word may refer to a name in another convention; an identifier refers to its exact case.
    in_its_case = query_analysis.looks_like_name(state.query.text)
    if len(exact) != 1 or (len(code) > 1 and not in_its_case):
        return results
    sole = exact[0]
    for at, place in enumerate(results):
        if place.file.path_id == sole.file.path_id and place.symbol == sole.symbol.ordinal:
            if at == 0:
                return results
            rest = [*results[:at], *results[at + 1 :]]
            return before([place], rest, state.request.limit)
    if state.request.kinds and sole.symbol.kind not in state.request.kinds:
        return results
    first = definitions(state, [sole], f"the only definition of {sole.symbol.name}")
    return before(first, results, state.request.limit)


# Puts files first that contain the quoted phrases of a query verbatim.

CHECKED_FILES = 60


def files_with_phrases(
    judged: Sequence[Judged], phrases: Sequence[str], read: Callable[[FileRow], bytes | None]
) -> tuple[list[Judged], list[tuple[FileRow, int]]]:
    """Put files first that contain every phrase; return them with the first phrase's line.

    Reads only the best `CHECKED_FILES`. Phrases match whole words; case matters for a phrase with a
    capital, as in text search.
    """
    patterns = [_form(phrase) for phrase in phrases]
    first: list[Judged] = []
    rest: list[Judged] = []
    files_with_chunks: list[tuple[FileRow, int]] = []
    for scored in judged[:CHECKED_FILES]:
        text = read(scored.evidence.file) or b""
        matches = [form.search(text) for form in patterns]
        if matches[0] and all(matches):
            first.append(scored)
            files_with_chunks.append(
                (scored.evidence.file, text.count(b"\n", 0, matches[0].start()) + 1)
            )
        else:
            rest.append(scored)
    return [*first, *rest, *judged[CHECKED_FILES:]], files_with_chunks


def _form(phrase: str) -> re.Pattern[bytes]:
    literal = re.escape(phrase.encode("utf-8", "replace"))
    before = rb"(?<![\w\x80-\xff])" if phrase[:1].isalnum() else b""
    after = rb"(?![\w\x80-\xff])" if phrase[-1:].isalnum() else b""
    return re.compile(before + literal + after, re.IGNORECASE if phrase == phrase.lower() else 0)
