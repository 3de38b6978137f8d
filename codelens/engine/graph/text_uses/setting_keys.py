"""The keys that lines of settings set: of a dictionary in code, or of a file of configuration.

Told by the lines alone, so that a text of an earlier commit, in whatever form, costs no parse. The
keys around one are told by indentation and, in files with sections, by the header above.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from codelens.extract.tokenizer import parts_of_word
from codelens.paths import printed
from codelens.types import Symbol

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
"""In place of a value: a line in a function; in a type or another definition, beside values."""
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
    """One key that is set somewhere."""

    name: str
    around: tuple[str, ...]
    """The keys that it stands in, outermost first."""
    owner: str
    """The variable that holds it; else the stem of its file."""
    configured: bool
    """Its owner, file or folder says that it is configuration, or it is in a file of data."""

    @property
    def is_distinctive(self) -> bool:
        """Hardly anything else is called so."""
        words = parts_of_word(self.name)
        return len(words) > 1 and len(self.name) >= _LONG


_LONG = 8


def says_configuration(text: str) -> bool:
    """Whether a name, or an expression, has a word for settings in it."""
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
                    # The dictionary itself.
                    continue
                *outer, last = name.split(".")
                inside = tuple(key for key in (*around, *outer) if key != owner)
                held_by = owner if name != owner else stem
                keys[SettingKey(last, inside, held_by, configured)] = None
    return list(keys)[:MOST_KEYS]


def is_configuration(path: bytes) -> bool:
    """Whether a file, or one of its last folders, is called for settings."""
    folders = path.split(b"/")[-3:-1]
    return any(says_configuration(printed(part)) for part in folders) or says_configuration(
        _stem(path)
    )


def is_data(path: bytes) -> bool:
    """Whether a file is of a format that settings are written in."""
    name = path.rpartition(b"/")[2].lower()
    return name.startswith(b".env") or name.rpartition(b".")[2] in _DATA


def _stem(path: bytes) -> str:
    return printed(path.rpartition(b"/")[2].lstrip(b".").partition(b".")[0])


def _holders(symbols: Sequence[Symbol], last: int) -> list[Symbol | str | None]:
    """For each line the value that it is in; the kind of what else it is in; None for nothing."""
    holders: list[Symbol | str | None] = [None] * (last + 1)
    # A parent stands before what it holds.
    for symbol in symbols:
        first = holders[symbol.start_line] if symbol.start_line <= last else _CODE
        if first == _CODE or isinstance(first, Symbol):
            continue
        inside = symbol if symbol.kind in HOLDERS else _CODE if symbol.kind in _CALLS else _TYPE
        end = min(symbol.end_line, last)
        holders[symbol.start_line : end + 1] = [inside] * (end + 1 - symbol.start_line)
    return holders


def _names(line: bytes) -> Iterator[tuple[str, bool]]:
    """The keys that a line sets; and whether what is set begins there and goes on below."""
    line = line[:_LINE_BYTES]
    entry = _ENTRY.match(line)
    if entry is not None:
        yield _key(entry), _OPENS.search(entry["value"]) is not None or _is_inline(entry)
    at = entry.start("value") if entry is not None else 0
    for match in _INLINE.finditer(line, at):
        yield _key(match), False


def _is_inline(entry: re.Match[bytes]) -> bool:
    return _INLINE.search(entry["value"]) is not None


def _key(match: re.Match[bytes]) -> str:
    return printed(match["quoted"] or match["bare"])


def _around(lines: Sequence[bytes], number: int, path: bytes, first: int = 1) -> tuple[str, ...]:
    """The keys that a line stands in: those before it with less indentation that open something."""
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
