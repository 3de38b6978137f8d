"""Parses ignore files and matches names and paths against them as git does.

The rules are those of git's `dir.c` (`add_patterns_from_buffer`, `parse_path_pattern`) and
`wildmatch.c`, including their quirks, because membership must equal git's exactly. Everything is
bytes, as names need not be UTF-8.

With core.ignoreCase the caller lowers the text (only ASCII, like git) and passes `fold`. An escaped
or bracketed upper-case letter then matches nothing, as in git.
"""

from __future__ import annotations

import re
import string
from functools import lru_cache
from typing import Final, NamedTuple

_SPECIAL: Final = re.compile(rb"[*?\[\\]")
_BETWEEN: Final = re.compile(rb"[*?/]")
_UNCLEAR: Final = re.compile(rb"[\[\\]")
"""The first special byte of a pattern."""
_BOM: Final = b"\xef\xbb\xbf"
_SLASH: Final = ord("/")

# Elements of a pattern that match several bytes. All others are sets of bytes.
_STAR: Final = "*"
_DEEP_SLASH: Final = "**/"
_DEEP: Final = "**"

Element = frozenset[int] | str


class Pattern(NamedTuple):
    """One parsed line."""

    text: bytes
    """The pattern without `!` and without a trailing slash."""
    negative: bool
    folder_only: bool
    basename: bool
    """Whether it has no slash, so that it is compared only with the last part of a path."""


def parse_pattern(data: bytes) -> list[Pattern]:
    """Returns the patterns of an ignore file in order. The last match decides."""
    if data.startswith(_BOM):
        data = data[len(_BOM) :]
    parsed: list[Pattern] = []
    for raw in data.split(b"\n"):
        # git reads C strings, so a NUL ends the line.
        line = raw.removesuffix(b"\r").split(b"\0", 1)[0]
        if raw and not raw.startswith(b"#"):
            parsed.append(_parse_line(_trim(line)))
    return parsed


def _trim(line: bytes) -> bytes:
    """Removes trailing spaces that are not escaped. Other white space stays."""
    bare = line.rstrip(b" ")
    if len(bare) == len(line):
        return line
    backslashes = len(bare) - len(bare.rstrip(b"\\"))
    return line[: len(bare) + 1] if backslashes % 2 else bare


def _parse_line(line: bytes) -> Pattern:
    negative = line.startswith(b"!")
    text = line[1:] if negative else line
    folder_only = text.endswith(b"/")
    if folder_only:
        text = text[:-1]
    return Pattern(text, negative, folder_only, b"/" not in text)


class Matcher(NamedTuple):
    """How a pattern matches: exactly one of the three is set."""

    literal: bytes | None = None
    suffix: bytes | None = None
    regex: bytes | None = None


def reduced(pattern: Pattern) -> Pattern:
    """Returns a parsed pattern without its leading slash, and without `**/` before a name.

    `**/name` matches a path if `name` matches its last part, which costs less.
    """
    while not pattern.basename:
        text = pattern.text.removeprefix(b"/")
        if not text.startswith(b"**/") or b"/" in text[3:]:
            return pattern._replace(text=text)
        pattern = pattern._replace(text=text[3:], basename=True)
    return pattern


def needs(pattern: Pattern, *, fold: bool) -> list[bytes]:
    """Returns byte runs in every match of a reduced pattern, if they are easy to find."""
    before = _UNCLEAR.split(pattern.text, 1)[0]
    return [_folded(run, fold) for run in _BETWEEN.split(before) if run]


def is_wild(pattern: Pattern) -> bool:
    """Whether a reduced pattern is more than plain text or `*` and plain text."""
    behind_star = int(pattern.basename and pattern.text.startswith(b"*"))
    return _SPECIAL.search(pattern.text, behind_star) is not None


def matcher(pattern: Pattern, *, fold: bool) -> tuple[bool, Matcher] | None:
    """Returns whether the pattern applies to the last part of a path or to the path, and how.

    The path is relative to the ignore file's folder. None if nothing can ever match.
    """
    pattern = reduced(pattern)
    text = pattern.text
    if pattern.basename:
        if text.startswith(b"*") and not _SPECIAL.search(text, 1):
            return True, Matcher(suffix=_folded(text[1:], fold))
        return _finish(b"", text, path=False, fold=fold)
    # git compares the text before the first wildcard separately and starts matching after it. The
    # stars of `a**/b` are therefore at the start of the match.
    special = _SPECIAL.search(text)
    cut = special.start() if special else len(text)
    return _finish(text[:cut], text[cut:], path=True, fold=fold)


def _folded(text: bytes, fold: bool) -> bytes:
    return text.lower() if fold else text


def _finish(head: bytes, rest: bytes, *, path: bool, fold: bool) -> tuple[bool, Matcher] | None:
    head = _folded(head, fold)
    elements = _elements(rest, path=path, fold=fold)
    if elements is None or frozenset() in elements or not (head or elements):
        return None
    single = [
        next(iter(element))
        for element in elements
        if not isinstance(element, str) and len(element) == 1
    ]
    if len(single) == len(elements):
        return not path, Matcher(literal=head + bytes(single))
    return not path, Matcher(regex=re.escape(head) + _regex(elements, path=path))


def _elements(text: bytes, *, path: bool, fold: bool) -> list[Element] | None:
    """Splits the pattern into elements; None if it is malformed, which matches nothing in git."""
    elements: list[Element] = []
    at = 0
    while at < len(text):
        byte = text[at : at + 1]
        if byte == b"*":
            element, at = _stars(text, at, path=path)
        elif byte == b"[":
            bracket = _bracket(text, at + 1, fold=fold)
            if bracket is None:
                return None
            members, at = bracket
            element = members - {_SLASH} if path else members
        elif byte == b"?":
            element, at = _ANY - {_SLASH} if path else _ANY, at + 1
        elif byte == b"\\":
            if at + 1 == len(text):
                return None
            element, at = _literal(text[at + 1 : at + 2], escaped=True, fold=fold), at + 2
        else:
            element, at = _literal(byte, escaped=False, fold=fold), at + 1
        elements.append(element)
    return elements


def _literal(byte: bytes, *, escaped: bool, fold: bool) -> frozenset[int]:
    if not fold:
        return frozenset(byte)
    # git lowers the text and plain letters of the pattern, but not what follows a backslash.
    return frozenset() if escaped and byte.isupper() else frozenset(byte.lower())


def _stars(text: bytes, at: int, *, path: bool) -> tuple[str, int]:
    end = at
    while text[end : end + 1] == b"*":
        end += 1
    follows = text[end : end + 2]
    starts_part = at == 0 or text[at - 1 : at] == b"/"
    if not path or end - at == 1 or not starts_part:
        return _STAR, end
    if follows.startswith(b"/"):
        return _DEEP_SLASH, end + 1
    return (_DEEP, end) if follows in (b"", b"\\/") else (_STAR, end)


def _bracket(text: bytes, at: int, *, fold: bool) -> tuple[frozenset[int], int] | None:
    """Returns the bytes of a bracket expression and its end; `at` is after the `[`."""
    negated = text[at : at + 1] in (b"!", b"^")
    at += negated
    members: set[int] = set()
    previous = 0
    while True:
        if at >= len(text):
            return None
        byte = text[at : at + 1]
        if byte == b"-" and previous and text[at + 1 : at + 2] not in (b"", b"]"):
            at += 2 if text[at + 1 : at + 2] == b"\\" else 1
            if at >= len(text):
                return None
            members |= _range(previous, text[at], fold=fold)
            previous = 0
        elif byte == b"[" and text[at + 1 : at + 2] == b":":
            named = _class(text, at, fold=fold)
            if named is None:
                return None
            more, at, previous = named
            members |= more
        else:
            at += byte == b"\\"
            if at >= len(text):
                return None
            previous = text[at]
            members.add(previous)
        at += 1
        if text[at : at + 1] == b"]":
            return (_ANY - members if negated else frozenset(members)), at + 1


def _range(first: int, last: int, *, fold: bool) -> set[int]:
    members = set(range(first, last + 1))
    if fold:
        members |= {ord(chr(byte).lower()) for byte in members & _CLASSES[b"upper"]}
    return members


def _class(text: bytes, at: int, *, fold: bool) -> tuple[frozenset[int], int, int] | None:
    """Returns members, last position, and the byte that could start a range; `at` is at the `[`."""
    end = text.find(b"]", at + 2)
    if end < 0:
        return None
    if end == at + 2 or text[end - 1 : end] != b":":
        return frozenset(b"["), at, ord("[")
    name = text[at + 2 : end - 1]
    if name == b"upper" and fold:
        return _CLASSES[b"alpha"], end, 0
    members = _CLASSES.get(name)
    return None if members is None else (members, end, 0)


_ANY: Final = frozenset(range(1, 256))
_CLASSES: Final = {
    name: frozenset(members.encode())
    for name, members in {
        b"alnum": string.ascii_letters + string.digits,
        b"alpha": string.ascii_letters,
        b"blank": " \t",
        b"cntrl": "".join(map(chr, range(1, 32))) + "\x7f",
        b"digit": string.digits,
        b"graph": string.ascii_letters + string.digits + string.punctuation,
        b"lower": string.ascii_lowercase,
        b"print": string.ascii_letters + string.digits + string.punctuation + " ",
        b"punct": string.punctuation,
        b"space": " \t\n\r",  # git's own isspace
        b"upper": string.ascii_uppercase,
        b"xdigit": string.hexdigits,
    }.items()
}


def _regex(elements: list[Element], *, path: bool) -> bytes:
    """Returns a regular expression for the whole text, to be compiled with DOTALL.

    Text between two stars is matched at the first place only (an atomic group), because a later
    place leaves less for the rest. Otherwise `*a*a*a*b` would take time exponential in its stars.
    """
    out: list[bytes] = []
    at = 0
    while at < len(elements):
        if elements[at] in (_DEEP, _DEEP_SLASH):
            stop = _next(elements, at + 1, (_DEEP, _DEEP_SLASH))
            inner = _components(elements[at + 1 : stop], path=path)
            out.append(_deep(str(elements[at]), inner, last=stop == len(elements)))
        else:
            stop = _next(elements, at, (_DEEP, _DEEP_SLASH))
            out.append(_components(elements[at:stop], path=path))
        at = stop
    return b"".join(out)


def _deep(kind: str, inner: bytes, *, last: bool) -> bytes:
    if kind == _DEEP:
        return b".*" + inner if last else b"(?>.*?" + inner + b")"
    return b"(?:.*/)?" + inner if last else b"(?>(?:.*?/)??" + inner + b")"


def _next(elements: list[Element], start: int, kinds: tuple[str, ...]) -> int:
    return next((at for at in range(start, len(elements)) if elements[at] in kinds), len(elements))


def _components(elements: list[Element], *, path: bool) -> bytes:
    gap = b"[^/]*" if path else b".*"
    out: list[bytes] = []
    at = 0
    while at < len(elements):
        element = elements[at]
        at += 1
        if not isinstance(element, str):
            out.append(_members(element))
            continue
        stop = _next(elements, at, (_STAR,))
        run = elements[at:stop]
        if stop < len(elements) and frozenset((_SLASH,)) not in run:
            out.append(b"(?>" + gap + b"?" + b"".join(map(_set_of, run)) + b")")
            at = stop
        else:
            out.append(gap)
    return b"".join(out)


def _set_of(element: Element) -> bytes:
    assert not isinstance(element, str)
    return _members(element)


def _members(members: frozenset[int]) -> bytes:
    if len(members) == 1:
        return re.escape(bytes(members))
    if len(members) > 128:
        outside = sorted(_ANY - members)
        return b"[^" + _escaped(outside) + b"]" if outside else b"."
    return b"[" + _escaped(sorted(members)) + b"]"


def _escaped(members: list[int]) -> bytes:
    return b"".join(b"\\x%02x" % byte for byte in members)


# Wildcard patterns of one ignore file: `Wild`, and `Scattered` for very many.

NONE: Final = -1
"""No line."""
_GRAM: Final = 4


class Wild(NamedTuple):
    """Alternatives in one expression. Group `n` is the line `lines[n]`."""

    regex: re.Pattern[bytes]
    lines: tuple[int, ...]

    def last(self, text: bytes) -> int:
        """Returns the last line that matches; `NONE` if none does."""
        match = self.regex.match(text)
        return NONE if match is None else self.lines[match.lastindex or 0]


class Scattered:
    """Very many patterns, grouped by a few bytes that each requires: an inverted index.

    A group is compiled when a text has its bytes.
    """

    def __init__(self, lines: list[tuple[int, Pattern]], *, fold: bool) -> None:
        self._fold = fold
        self._groups: dict[bytes, list[tuple[int, Pattern]]] = {}
        self._ready: dict[bytes, Wild | None] = {}
        for line, pattern in lines:
            grams = _grams(needs(reduced(pattern), fold=fold))
            key = min(grams, key=lambda gram: len(self._groups.get(gram, ())))
            self._groups.setdefault(key, []).append((line, pattern))
        self._lengths = sorted({len(key) for key in self._groups})

    def last(self, text: bytes) -> int:
        """Returns the last line that matches; `NONE` if none does."""
        best = NONE
        for key in self._keys_in(text):
            wild = self._ready[key] if key in self._ready else self._compiled_group(key)
            if wild is not None:
                best = max(best, wild.last(text))
        return best

    def _keys_in(self, text: bytes) -> list[bytes]:
        pieces = {text[at : at + n] for n in self._lengths for at in range(len(text) - n + 1)}
        return [key for key in pieces if key in self._groups]

    def _compiled_group(self, key: bytes) -> Wild | None:
        group = self._groups[key]
        matchers = [(line, matcher(pattern, fold=self._fold)) for line, pattern in group]
        wild = compiled(
            [
                (line, _regex_of(matcher_of_line[1]))
                for line, matcher_of_line in matchers
                if matcher_of_line
            ]
        )
        self._ready[key] = wild
        return wild


def _grams(runs: list[bytes]) -> list[bytes]:
    """Returns the substrings to index a pattern by, up to `_GRAM` bytes long; at least one."""
    longest = min(_GRAM, max(map(len, runs), default=0))
    return [run[at : at + longest] for run in runs for at in range(len(run) - longest + 1)] or [b""]


def _regex_of(how: Matcher) -> bytes:
    """Returns the matcher's expression, building one for plain text and suffixes."""
    if how.regex is not None:
        return how.regex
    if how.literal is not None:
        return re.escape(how.literal)
    return b".*" + re.escape(how.suffix or b"")


def compiled(patterns: list[tuple[int, bytes | None]]) -> Wild | None:
    """Compiles the expressions of lines, in the file's order, into one; None if there are none."""
    by_line = [(line, regex) for line, regex in reversed(patterns) if regex is not None]
    if not by_line:
        return None
    body = b"|".join(b"(" + regex + b")" for _, regex in by_line)
    regex = re.compile(b"(?:" + body + b")\\Z", re.DOTALL)
    return Wild(regex, (NONE, *(line for line, _ in by_line)))


# The patterns of one ignore file, compiled for a decision within a microsecond or two.
#
# Plain names and `*.ext` are looked up in dictionaries. All other patterns form one regular
# expression per kind, in reverse order, so that its first match is the last matching line. Of very
# many patterns (`Scattered`), only relevant ones are compiled.

_MANY: Final = 500
"""More patterns than this are compiled on demand, because each costs 0.2 ms."""


class _Line(NamedTuple):
    """A pattern and how it matches."""

    pattern: Pattern
    on_name: bool
    how: Matcher | None
    """None if it is not compiled yet."""


class Table:
    """Patterns of one file that can apply to one kind of entry."""

    __slots__ = (
        "_all_suffixes",
        "_extensions",
        "_names",
        "_negative",
        "_path_wild",
        "_paths",
        "_suffixes",
        "_wild",
        "asks_path",
    )

    def __init__(self, lines: list[_Line], *, fold: bool) -> None:
        self._negative = tuple(line.pattern.negative for line in lines)
        on_name = [(line, row.how) for line, row in enumerate(lines) if row.on_name and row.how]
        on_path = [(line, row.how) for line, row in enumerate(lines) if not row.on_name and row.how]
        # A dictionary keeps the last of equal keys, which is the line that decides.
        self._names = {how.literal: line for line, how in on_name if how.literal is not None}
        suffixes = {how.suffix: line for line, how in on_name if how.suffix is not None}
        self._extensions = {
            suffix: line for suffix, line in suffixes.items() if _is_extension(suffix)
        }
        self._suffixes = {
            suffix: line for suffix, line in suffixes.items() if not _is_extension(suffix)
        }
        self._all_suffixes = tuple(self._suffixes)
        self._wild = _wild(lines, on_name=True, fold=fold)
        self._paths = {how.literal: line for line, how in on_path if how.literal is not None}
        self._path_wild = _wild(lines, on_name=False, fold=fold)
        self.asks_path = any(not line.on_name for line in lines)

    def decide(self, name: bytes, path: bytes) -> bool | None:
        """Whether the last matching pattern ignores; None if none matches.

        `path` is relative to the ignore file's folder and ends in `name`. It is used only if
        `asks_path`.
        """
        line = self._names.get(name, NONE)
        line = max(line, self._extensions.get(name[name.rfind(b".") :], NONE))
        if self._all_suffixes and name.endswith(self._all_suffixes):
            line = max(line, *(at for end, at in self._suffixes.items() if name.endswith(end)))
        if self._wild is not None:
            line = max(line, self._wild.last(name))
        if self.asks_path:
            line = max(line, self._paths.get(path, NONE))
            if self._path_wild is not None:
                line = max(line, self._path_wild.last(path))
        return None if line == NONE else not self._negative[line]


def _is_extension(suffix: bytes) -> bool:
    """Whether the last dot of a name and the text after it are enough to find the suffix."""
    return suffix.rfind(b".") == 0


def _wild(lines: list[_Line], *, on_name: bool, fold: bool) -> Wild | Scattered | None:
    own_lines = [(number, line) for number, line in enumerate(lines) if line.on_name == on_name]
    unready = [(number, line.pattern) for number, line in own_lines if line.how is None]
    if unready:
        return Scattered(unready, fold=fold)
    return compiled([(number, line.how.regex) for number, line in own_lines if line.how])


class Tables(NamedTuple):
    """One ignore file for both kinds of entries; None if no pattern can apply."""

    files: Table | None
    folders: Table | None


@lru_cache(maxsize=1024)
def tables(data: bytes, *, fold: bool) -> Tables:
    """Returns the tables of an ignore file's text. Equal texts are compiled once."""
    # The last of equal lines decides, regardless of the earlier ones.
    parsed = parse_pattern(data)
    last = {(pattern.text, pattern.folder_only): line for line, pattern in enumerate(parsed)}
    patterns = [parsed[line] for line in sorted(last.values())]
    wild = sum(is_wild(reduced(pattern)) for pattern in patterns)
    lines = [_line(pattern, fold=fold, at_once=wild <= _MANY) for pattern in patterns]
    matchable = [line for line in lines if line is not None]
    of_files = [line for line in matchable if not line.pattern.folder_only]
    folders = _table(matchable, fold=fold)
    files = folders if len(of_files) == len(matchable) else _table(of_files, fold=fold)
    return Tables(files, folders)


def _table(lines: list[_Line], *, fold: bool) -> Table | None:
    return Table(lines, fold=fold) if lines else None


def _line(pattern: Pattern, *, fold: bool, at_once: bool) -> _Line | None:
    less = reduced(pattern)
    if not at_once and is_wild(less):
        return _Line(pattern, less.basename, None)
    matcher_found = matcher(pattern, fold=fold)
    return _Line(pattern, *matcher_found) if matcher_found else None
