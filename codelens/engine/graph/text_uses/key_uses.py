"""Who reads a key of settings: `settings.KEY`, `config["key"]`, `get("a.key")`, `ENV["KEY"]`.

A key is no definition that a resolver knows, so each place is a possible use, and how likely it is
depends on what stands before the key.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.text_uses.setting_keys import SettingKey, says_configuration
from codelens.engine.graph.text_uses.word_search import Match, TextSearch, words_in

OF_ITS_OWNER, OF_CONFIGURATION, BY_NAME = 0, 1, 2
"""What reads it: the holder of the key by its name; something called configuration; anything."""
_LOOKED_AT = 160
"""Bytes before and behind a key."""
_JOINT = rb"(?:\?\.|&\.|!\.|\.|->|::)"
_CHAIN = rb"[\w$@)\]\"'!?]+(?:" + _JOINT + rb"[\w$@()\[\]\"'!?]+)*"
_ATTRIBUTE = re.compile(rb"(" + _CHAIN + rb")" + _JOINT + rb"$")
_SUBSCRIPT = re.compile(rb"(" + _CHAIN + rb")\s*(?:\?\.)?\[\s*[bru]?$")
_CALL = re.compile(
    rb"([\w$.:>?!&\-\])(]*[\w$?!])\s*(?:<[\w<>\[\], .?]*>)?(?:\(\s*|\s)(?:([\w$.:>\-()]+)\s*,\s*)?"
    rb"[bru]?$"
)
_OPEN_QUOTE = re.compile(rb"([\"'`])(\$\{)?((?:[\w\-]+[./:])*)$")
_CLOSE_QUOTE = re.compile(rb"\A(?:\}|:[^\"'`}]*\})?([\"'`])")
_TAG = re.compile(rb"\b(?:json|yaml|toml|mapstructure|env|ini|koanf|envconfig|config):$")
_IN = re.compile(rb"\A\s*(?:not\s+)?in\s+([\w$.]+)")
_DESTRUCTURED = re.compile(rb"\A[^{}();]*\}\s*=\s*(?:await\s+)?([\w$.]+)")
_GETTER = re.compile(r"(?i)(?:^|[._:>])(?:get|fetch|read|lookup|value|opt|dig|has)\w*\Z")
_TWO = 2
MOST_READERS = 100
"""Of one key, where its owner is not named: of more than these its name says nothing."""


class KeyUse(NamedTuple):
    """One place that may read a key."""

    path: bytes
    line: int
    key: SettingKey
    grade: int


class KeyUses:
    """Looks for readers in one view, for one question."""

    def __init__(self, graph: LazyGraph, search: TextSearch) -> None:
        self._graph = graph
        self._search = search
        self.left_out = 0
        """Places that read a key whose name is too common to tell anything."""

    def of(self, keys: Sequence[SettingKey], inside: Iterable[bytes]) -> list[KeyUse]:
        """Readers of some keys, likeliest first; not in files of which all is asked about."""
        if not keys:
            return []
        by_name: dict[bytes, list[SettingKey]] = {}
        for key in keys:
            for name in _spellings(key.name):
                by_name.setdefault(name.encode("utf-8", "replace"), []).append(key)
        words = sorted({key.name for key in keys})
        paths = set[bytes]().union(*(self._search.files_with(words_in(word)) for word in words))
        pattern = _pattern(by_name)
        uses = dict.fromkeys(self._read(paths.difference(inside), pattern, by_name))
        uses = self._without_common(uses)
        return sorted(uses, key=lambda use: (use.grade, use.path, use.line))

    def _without_common(self, uses: Iterable[KeyUse]) -> list[KeyUse]:
        """Without those of keys that so much reads that a name says nothing."""
        every = list(uses)
        counts = Counter((use.key, use.grade) for use in every if use.grade != OF_ITS_OWNER)
        common = {key for key, count in counts.items() if count > MOST_READERS}
        self.left_out = sum(counts[key] for key in common)
        return [use for use in every if (use.key, use.grade) not in common]

    def _read(
        self, paths: Iterable[bytes], pattern: re.Pattern[bytes],
        by_name: Mapping[bytes, Sequence[SettingKey]],
    ) -> Iterator[KeyUse]:  # fmt: skip
        for match in self._search.matches(paths, pattern):
            word = match.text[match.start : match.end]
            reading = _reading(match)
            if reading is None:
                continue
            graded = [(grade, key) for key in by_name[word] if (grade := _grade(key, reading)) >= 0]
            if graded and not (reading.attribute and self._leads(match, word)):
                grade, key = min(graded)
                yield KeyUse(match.path, match.line, key, grade)

    def _leads(self, match: Match, word: bytes) -> bool:
        """Whether an attribute is known to be a definition: then an edge tells its use."""
        self._graph.resolve([match.path])
        return self._graph.leads(match.path, match.line, word.decode("utf-8", "replace"))


class _Reading(NamedTuple):
    """How a name is used where it may be a key."""

    source: str
    """What it is read from, as it is written."""
    prefix: tuple[str, ...]
    """Keys before it in the same text: `a` of `"a.key"`."""
    attribute: bool
    named: bool
    """It is a subscript, an attribute or an argument of something that gets."""


def _reading(match: Match) -> _Reading | None:
    before = match.before[-_LOOKED_AT:]
    after = match.after[:_LOOKED_AT]
    quote, close = _OPEN_QUOTE.search(before), _CLOSE_QUOTE.match(after)
    if quote is not None and close is not None and quote[1] == close[1]:
        prefix = tuple(part for part in re.split(r"[./:]", quote[3].decode()) if part)
        return _quoted(before[: quote.start()], after[close.end() :], prefix)
    if before.endswith(b":") and not before.endswith(b"::"):
        # A symbol of Ruby.
        return _quoted(before[:-1], after, ())
    attribute = _ATTRIBUTE.search(before)
    if attribute is not None:
        return _Reading(_text(attribute[1]), (), attribute=True, named=True)
    destructured = _DESTRUCTURED.match(after)
    if destructured is not None and b"{" in before:
        return _Reading(_text(destructured[1]), (), attribute=False, named=False)
    return None


def _quoted(before: bytes, after: bytes, prefix: tuple[str, ...]) -> _Reading | None:
    subscript = _SUBSCRIPT.search(before)
    if subscript is not None and after.lstrip().startswith(b"]"):
        return _Reading(_text(subscript[1]), prefix, attribute=False, named=True)
    inside = _IN.match(after)
    if inside is not None:
        return _Reading(_text(inside[1]), prefix, attribute=False, named=True)
    if _TAG.search(before.rstrip(b"\"'`")) is not None:
        return _Reading("config", prefix, attribute=False, named=False)
    call = _CALL.search(before)
    if call is not None:
        source = _text(call[1])
        first = _text(call[2]) if call[2] else ""
        named = _GETTER.search(source) is not None
        return _Reading(f"{source} {first}".strip(), prefix, attribute=False, named=named)
    if prefix:
        return _Reading("", prefix, attribute=False, named=False)
    return None


def _grade(key: SettingKey, reading: _Reading) -> int:
    """How likely a reading is of a key; -1 where nothing speaks for it."""
    around = (key.owner, *key.around)
    source = set(re.findall(r"[A-Za-z_$][\w$]*", reading.source))
    if reading.prefix:
        # The whole text is a path of keys, with or without the file's own name.
        return OF_ITS_OWNER if around[-len(reading.prefix) :] == reading.prefix else -1
    if not source.isdisjoint({around[-1], key.owner}) and (source & {around[-1]} or not key.around):
        return OF_ITS_OWNER
    if key.configured and says_configuration(reading.source) and _is_near_top(key):
        return OF_CONFIGURATION
    if key.configured and key.is_distinctive and (reading.named or reading.source == ""):
        return BY_NAME
    return -1


def _is_near_top(key: SettingKey) -> bool:
    """A key deep in others is not read from what is called configuration alone."""
    return len(key.around) < _TWO or key.is_distinctive


def _pattern(names: Mapping[bytes, object]) -> re.Pattern[bytes]:
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    any_name = b"|".join(re.escape(name) for name in longest_first)
    return re.compile(rb"(?<![\w$-])(?P<at>%s)(?![\w$])" % any_name)


def _spellings(name: str) -> set[str]:
    """A key as it is written, and as programs spell names: `max-size`, `max_size`, `maxSize`."""
    if "-" not in name:
        return {name}
    words = name.split("-")
    camel = words[0] + "".join(word[:1].upper() + word[1:] for word in words[1:])
    return {name, "_".join(words), camel}


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
