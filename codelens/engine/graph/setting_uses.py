"""Finds the keys that configuration sets and the code that may read them, by text search."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from codelens.branches.code_tokens import is_comment_line
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.candidate_files import files_with
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.extract.file_kinds import is_binary
from codelens.extract.language_settings import TEXT, language_info
from codelens.extract.tokenizer import WORD, parts_of_word
from codelens.paths import printed
from codelens.resolve.walk.edge_table import Node
from codelens.types import Symbol

MOST_FILES = 1_000
_MOST_MATCHES = 2_000
"""Maximum matches in one file: a text with more is data."""


EXACT, BARE, THROUGH = 0, 1, 2
"""Grades of names: `auth/login.html` names a template rather than `auth.login`, which may be a
route."""


class Place(NamedTuple):
    """One place that may use the target."""

    path: bytes
    line: int
    why: str
    grade: int = EXACT
    """The likeliest first."""
    choices: int = 0
    """The number of files that it may name; 0 for one."""
    node: Node | None = None
    """The definition that uses it; None: the one around the line."""


class Match(NamedTuple):
    """A match of a pattern in a file."""

    path: bytes
    text: bytes
    start: int
    end: int
    line: int
    """1-based."""
    group: str
    """The named group of the pattern that matched."""

    @property
    def before(self) -> bytes:
        """The text before it in its line."""
        return self.text[self.text.rfind(b"\n", 0, self.start) + 1 : self.start]

    @property
    def after(self) -> bytes:
        """The text after it in its line."""
        stop = self.text.find(b"\n", self.end)
        return self.text[self.end : stop if stop >= 0 else len(self.text)]


class TextSearch:
    """Searches the files of one view, for one call; the index selects which files it reads.

    Args:
        view: the view; its database must be in a read transaction.
        graph: has the languages of files and the time limit.
    """

    def __init__(self, view: CurrentView, graph: LazyGraph) -> None:
        self._view = view
        self._graph = graph
        self.unread = 0
        """Files that may match and were not read."""

    def files_with(self, words: Sequence[str]) -> set[bytes]:
        """Files of the view that contain all of some words, according to the index."""
        return files_with(self._view.snapshot, words)

    def naming(self, template: bytes) -> set[tuple[bytes, int]]:
        """Files and lines that certainly name a template, which are no possible uses."""
        return {(edge.source, edge.line) for edge in self._graph.naming_template(template)}

    def matches(
        self, paths: Iterable[bytes], pattern: re.Pattern[bytes], also: Iterable[bytes] = ()
    ) -> Iterator[Match]:
        """Matches of a pattern in the code of some files, outside of comments; by path.

        Args:
            paths: files to read; prose, data and unknown languages are skipped.
            pattern: its last named group is the place.
            also: files to read in any language.
        """
        languages = self._graph.resolved.languages
        programs = {path for path in paths if _is_program(languages.get(path) or TEXT)}
        order = sorted(programs.union(also))
        for number, path in enumerate(order):
            if number >= MOST_FILES or self._graph.spent():
                self.unread += len(order) - number
                return
            text = self._view.read_path(path)
            if text and not is_binary(text):
                yield from _in_text(path, text, pattern, languages.get(path) or TEXT)


def _in_text(
    path: bytes, text: bytes, pattern: re.Pattern[bytes], language: str
) -> Iterator[Match]:
    line, counted = 1, 0
    for number, match in enumerate(pattern.finditer(text)):
        if number >= _MOST_MATCHES:
            return
        group = match.lastgroup or ""
        start, end = match.span(group)
        line += text.count(b"\n", counted, start)
        counted = start
        begin = text.rfind(b"\n", 0, start) + 1
        if not is_comment_line(text[begin:end], language):
            yield Match(path, text, start, end, line, group)


def _is_program(language: str) -> bool:
    info = language_info(language)
    return language != TEXT and not info.prose and not info.no_programs


def words_in(text: str) -> list[str]:
    """The words of a text, as the index has them."""
    return WORD.findall(text)


# The keys that lines set in a dictionary in code, or in a configuration file.
#
# Found in the lines alone, so the text of an earlier commit needs no parsing. Enclosing keys are
# found by indentation and, in files with sections, by the section header.

MOST_KEYS = 60
_MOST_AROUND = 8
_LINE_BYTES = 2_000
_DATA = frozenset(b"json json5 jsonc yaml yml toml ini cfg conf properties env".split())
_FLAT = frozenset(b"properties env".split())
_CONFIGURING = frozenset(
    "settings setting config configs configuration configurations conf cfg options option opts env "
    "environ environment getenv defaults default params preferences prefs properties viper".split()
)
HOLDERS = frozenset({"constant", "variable", "property", "field"})
"""Kinds of definitions that hold a value."""
_CALLS = frozenset({"function", "method"})
_CODE, _TYPE = "code", "type"
"""Replace a value, for a line in a function, and in a type or another definition."""
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_ENTRY = re.compile(
    rb"^[\s>]*(?:-\s+)?(?:(?:export|const|let|var|static|final|readonly|public|private|self\.)\s*)*"
    rb"(?:\[\s*)?(?:([\"'`])(?P<quoted>[\w.\-/]{1,120})\1|:?(?P<bare>[A-Za-z_$][\w$.\-]{0,119}))"
    rb"(?:\s*\])?\s*(?::(?![:=])|=>|=(?![=>])|\bto\b)(?P<value>.*)$"
)
_INLINE = re.compile(
    rb"[{,(\[]\s*(?:([\"'`])(?P<quoted>[\w.\-]{1,120})\1|:?(?P<bare>[A-Za-z_$][\w$\-]{0,119}))"
    rb"\s*(?::(?![:=])|=>|=(?![=>]))(?P<value>)"
)
_SECTION = re.compile(rb"^\s*\[\[?\s*([\w.\-\"' ]+?)\s*\]\]?\s*(?:[#;].*)?$")
_OPENS = re.compile(rb"[\[{(]\s*(?:(?:#|//).*)?$")


class SettingKey(NamedTuple):
    """One key that is set."""

    name: str
    around: tuple[str, ...]
    """The enclosing keys, outermost first."""
    owner: str
    """The variable that holds it, or the stem of its file."""
    configured: bool
    """Whether its owner, file or folder is named for configuration, or its file is data."""

    @property
    def is_distinctive(self) -> bool:
        """Whether the name is so specific that hardly anything else has it."""
        words = parts_of_word(self.name)
        return len(words) > 1 and len(self.name) >= _LONG


_LONG = 8


def says_configuration(text: str) -> bool:
    """Whether a name or an expression contains a word for settings."""
    return any(part in _CONFIGURING for word in _WORD.findall(text) for part in parts_of_word(word))


def keys_in(
    path: bytes, text: bytes, symbols: Sequence[Symbol], spans: Iterable[tuple[int, int]]
) -> list[SettingKey]:
    """The keys that some lines of a file set; at most `MOST_KEYS`, in order."""
    lines = text.split(b"\n")
    data, calls_itself, stem = is_data(path), is_configuration(path), _stem(path)
    holders = [None] * (len(lines) + 1) if data else _holders(symbols, len(lines))
    keys: dict[SettingKey, None] = {}
    for start, end in spans:
        for number in range(start, min(end, len(lines)) + 1):
            if len(keys) >= MOST_KEYS:
                return list(keys)
            holder = holders[number]
            if isinstance(holder, str) or (holder is None and not (data or calls_itself)):
                continue
            around = _around(lines, number, path, holder.start_line if holder else 1)
            owner = holder.name if holder else stem
            configured = data or calls_itself or says_configuration(owner)
            for name, opens in _names(lines[number - 1]):
                if name == owner and (opens or not calls_itself):
                    # The name of the dictionary.
                    continue
                *outer, last = name.split(".")
                inside = tuple(key for key in (*around, *outer) if key != owner)
                held_by = owner if name != owner else stem
                keys[SettingKey(last, inside, held_by, configured)] = None
    return list(keys)[:MOST_KEYS]


def is_configuration(path: bytes) -> bool:
    """Whether a file, or one of its last folders, is named for settings."""
    folders = path.split(b"/")[-3:-1]
    return any(says_configuration(printed(part)) for part in folders) or says_configuration(
        _stem(path)
    )


def is_data(path: bytes) -> bool:
    """Whether the format of a file is used for settings."""
    name = path.rpartition(b"/")[2].lower()
    return name.startswith(b".env") or name.rpartition(b".")[2] in _DATA


def _stem(path: bytes) -> str:
    return printed(path.rpartition(b"/")[2].lstrip(b".").partition(b".")[0])


def _holders(symbols: Sequence[Symbol], last: int) -> list[Symbol | str | None]:
    """The value that contains each line, or the kind of its container; None if neither does."""
    holders: list[Symbol | str | None] = [None] * (last + 1)
    # A parent precedes its members.
    for symbol in symbols:
        first = holders[symbol.start_line] if symbol.start_line <= last else _CODE
        if first == _CODE or isinstance(first, Symbol):
            continue
        inside = symbol if symbol.kind in HOLDERS else _CODE if symbol.kind in _CALLS else _TYPE
        end = min(symbol.end_line, last)
        holders[symbol.start_line : end + 1] = [inside] * (end + 1 - symbol.start_line)
    return holders


def _names(line: bytes) -> Iterator[tuple[str, bool]]:
    """The keys that a line sets, each with whether its value continues on the next lines."""
    line = line[:_LINE_BYTES]
    entry = _ENTRY.match(line)
    if entry is not None:
        value = entry["value"]
        yield _key(entry), bool(_OPENS.search(value) or _INLINE.search(value))
    at = entry.start("value") if entry is not None else 0
    for match in _INLINE.finditer(line, at):
        yield _key(match), False


def _key(match: re.Match[bytes]) -> str:
    return printed(match["quoted"] or match["bare"])


def _around(lines: Sequence[bytes], number: int, path: bytes, first: int = 1) -> tuple[str, ...]:
    """The keys that enclose a line: earlier lines with less indentation that open a block."""
    ending = path.rpartition(b".")[2].lower()
    if ending in _FLAT or path.rpartition(b"/")[2].startswith(b".env"):
        return ()
    keys: list[str] = []
    depth = _indentation(lines[number - 1])
    for at in range(number - 2, first - 2, -1):
        line = lines[at]
        section = _SECTION.match(line)
        if section is not None:
            keys += [part.strip("\"' ") for part in reversed(printed(section[1]).split("."))]
            break
        if depth == 0 and ending not in {b"toml", b"ini", b"cfg", b"conf"}:
            break
        if not line.strip() or _indentation(line) >= depth:
            continue
        depth = _indentation(line)
        entry = _ENTRY.match(line[:_LINE_BYTES])
        if entry is not None and len(keys) < _MOST_AROUND:
            keys.append(_key(entry))
    return tuple(part for key in reversed(keys) for part in key.split("."))


def _indentation(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" \t"))


# The readers of a key: `settings.KEY`, `config["key"]`, `get("a.key")`, `ENV["KEY"]`.
#
# Resolvers do not resolve keys, so each place is a possible use. Its likelihood depends on the text
# before the key.

OF_ITS_OWNER, OF_CONFIGURATION, BY_NAME = 0, 1, 2
"""What the key is read from: its owner by name; something named for configuration; anything."""
_LOOKED_AT = 160
"""Bytes before and after a key."""
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
"""Maximum readers of a key without its owner: with more, its name is no evidence."""


class _KeyUse(NamedTuple):
    """One place that may read a key."""

    path: bytes
    line: int
    key: SettingKey
    grade: int


class KeyUses:
    """Searches one view for readers, for one call."""

    def __init__(self, graph: LazyGraph, search: TextSearch) -> None:
        self._graph = graph
        self._search = search
        self.left_out = 0
        """Number of places that read a key whose name is too common as evidence."""

    def of(self, keys: Sequence[SettingKey], inside: Iterable[bytes]) -> list[Place]:
        """Readers of some keys, likeliest first; skips the files that are in the target."""
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
        uses = sorted(uses, key=lambda use: (use.grade, use.path, use.line))
        return [Place(use.path, use.line, _reason(use), use.grade) for use in uses]

    def _without_common(self, uses: Iterable[_KeyUse]) -> list[_KeyUse]:
        """The uses without those of keys with too many readers."""
        every = list(uses)
        counts = Counter((use.key, use.grade) for use in every if use.grade != OF_ITS_OWNER)
        common = {key for key, count in counts.items() if count > MOST_READERS}
        self.left_out = sum(counts[key] for key in common)
        return [use for use in every if (use.key, use.grade) not in common]

    def _read(
        self, paths: Iterable[bytes], pattern: re.Pattern[bytes],
        by_name: Mapping[bytes, Sequence[SettingKey]],
    ) -> Iterator[_KeyUse]:  # fmt: skip
        for match in self._search.matches(paths, pattern):
            word = match.text[match.start : match.end]
            reading = _reading(match)
            if reading is None:
                continue
            graded = [(grade, key) for key in by_name[word] if (grade := _grade(key, reading)) >= 0]
            if graded and not (reading.attribute and self._leads(match, word)):
                grade, key = min(graded)
                yield _KeyUse(match.path, match.line, key, grade)

    def _leads(self, match: Match, word: bytes) -> bool:
        """Whether an attribute is resolved to a definition: then an edge shows its use."""
        self._graph.resolve([match.path])
        return self._graph.leads(match.path, match.line, word.decode("utf-8", "replace"))


def _reason(use: _KeyUse) -> str:
    where = {
        OF_ITS_OWNER: f" of {(use.key.owner, *use.key.around)[-1]}",
        OF_CONFIGURATION: " of a configuration",
        BY_NAME: "",
    }
    return f"reads {use.key.name}{where[use.grade]}"


class _Reading(NamedTuple):
    """How a name is used where it may be a key."""

    source: str
    """The expression that it is read from, as written."""
    prefix: tuple[str, ...]
    """Keys before it in the same string: `a` of `"a.key"`."""
    attribute: bool
    named: bool
    """Whether it is a subscript, an attribute or an argument of a getter."""


def _reading(match: Match) -> _Reading | None:
    before = match.before[-_LOOKED_AT:]
    after = match.after[:_LOOKED_AT]
    quote, close = _OPEN_QUOTE.search(before), _CLOSE_QUOTE.match(after)
    if quote is not None and close is not None and quote[1] == close[1]:
        prefix = tuple(part for part in re.split(r"[./:]", quote[3].decode()) if part)
        return _quoted(before[: quote.start()], after[close.end() :], prefix)
    if before.endswith(b":") and not before.endswith(b"::"):
        # A Ruby symbol.
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
    """How likely a place reads the key; -1 without evidence."""
    around = (key.owner, *key.around)
    source = set(re.findall(r"[A-Za-z_$][\w$]*", reading.source))
    if reading.prefix:
        # The whole string is a path of keys, with or without the file's own name.
        return OF_ITS_OWNER if around[-len(reading.prefix) :] == reading.prefix else -1
    if not source.isdisjoint({around[-1], key.owner}) and (source & {around[-1]} or not key.around):
        return OF_ITS_OWNER
    if key.configured and says_configuration(reading.source) and _is_near_top(key):
        return OF_CONFIGURATION
    if key.configured and key.is_distinctive and (reading.named or reading.source == ""):
        return BY_NAME
    return -1


def _is_near_top(key: SettingKey) -> bool:
    """Whether a key is near the top level; a deeply nested one needs more evidence."""
    return len(key.around) < _TWO or key.is_distinctive


def _pattern(names: Mapping[bytes, object]) -> re.Pattern[bytes]:
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    any_name = b"|".join(re.escape(name) for name in longest_first)
    return re.compile(rb"(?<![\w$-])(?P<at>%s)(?![\w$])" % any_name)


def _spellings(name: str) -> set[str]:
    """A key as written, and in the styles of programs: `max-size`, `max_size`, `maxSize`."""
    if "-" not in name:
        return {name}
    words = name.split("-")
    camel = words[0] + "".join(word[:1].upper() + word[1:] for word in words[1:])
    return {name, "_".join(words), camel}


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
