"""Edits TOML by whole tables: all other bytes stay the same.

Our tables are appended at the end, and cut from their header to their last value. They have no
markers, because other tools would append tables between them. Where a whole table cannot be
appended (`servers` is an inline table), tomlkit makes the edit. It is not used everywhere because
it would remove the comment above the next table together with our table. The caller compares the
values before and after.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, NamedTuple, cast

from codelens.hosts.formats.config_values import EditRefused, Keys, Value

if TYPE_CHECKING:
    from tomlkit.items import Item

_TOKENS = re.compile(
    r'#[^\n]*|"""(?:\\.|[^\\])*?"{3,5}(?!")|' + r"'''.*?'{3,5}(?!')|"
    r'"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'|[\[\]{}]|\n|[^\s\[\]{}\"'#]+",
    re.DOTALL,
)
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class _Table(NamedTuple):
    """A table with a header: its path, and its offsets from header to last value (half-open)."""

    path: Keys
    start: int
    end: int


def parse(text: str) -> Value:
    """The value of the text.

    Raises:
        EditRefused: the text is not TOML.
    """
    try:
        return cast("Value", tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise EditRefused(str(error)) from error
    except RecursionError as error:
        raise EditRefused("it is nested too deeply") from error


def put(text: str, keys: Keys, value: Value) -> str:
    """The text with `value` at `keys`: in the table that contains it, or else in a new one.

    Raises:
        EditRefused: neither is possible.
    """
    holder = next(
        (
            table
            for table in _tables(text)
            if len(table.path) < len(keys) and _leads(table.path, keys)
        ),
        None,
    )
    if holder is not None and len(holder.path) == len(keys) - 1 and not isinstance(value, dict):
        fresh = _with_tomlkit(text[holder.start : holder.end], keys, value).rstrip("\r\n")
        if "\r\n" in text:
            fresh = re.sub(r"(?<!\r)\n", "\r\n", fresh)
        return text[: holder.start] + fresh + text[holder.end :]
    if isinstance(value, dict) and not _is_blocked_by_inline_table(text, keys):
        eol = "\r\n" if "\r\n" in text else "\n"
        block = _rendered(keys, value).replace("\n", eol)
        if not text:
            return block
        return text + ("" if text.endswith("\n") else eol) + eol + block
    return _with_tomlkit(text, keys, value)


def take(text: str, keys: Keys) -> str:
    """The text without the value at `keys`; unchanged if it has none."""
    for table in reversed(_tables(text)):
        if _leads(keys, table.path):
            text = _cut(text, table)
    parsed = parse(text)
    for key in keys:
        if not isinstance(parsed, dict) or key not in parsed:
            return text
        parsed = parsed[key]
    return _without_tomlkit(text, keys)


def _cut(text: str, table: _Table) -> str:
    """The text without a table, its line break and the blank line before it."""
    start = text.rfind("\n", 0, table.start) + 1
    line_end = text.find("\n", table.end)
    end = len(text) if line_end < 0 else line_end + 1
    for blank in ("\r\n\r\n", "\n\n"):
        if text.endswith(blank, 0, start) and (end == len(text) or text[end] in "\r\n"):
            start -= len(blank) // 2
            break
    return text[:start] + text[end:]


def _leads(path: Keys, keys: Keys) -> bool:
    return keys[: len(path)] == path


def _is_blocked_by_inline_table(text: str, keys: Keys) -> bool:
    """Whether an inline table prevents appending a whole table at `keys`."""
    probe = "".join(f"[{_dotted(keys)}]\n")
    try:
        tomllib.loads(f"{text}\n{probe}")
    except tomllib.TOMLDecodeError:
        return True
    return False


def _tables(text: str) -> list[_Table]:
    """The tables with a header, in order; `text` is valid TOML."""
    spans: list[_Table] = []
    depth, fresh_line, position = 0, True, 0
    while (token := _TOKENS.search(text, position)) is not None:
        lexeme, position = token.group(), token.end()
        if lexeme == "\n":
            fresh_line = True
            continue
        if lexeme == "[" and fresh_line and not depth:
            position = _header_end(text, token.start())
            spans.append(_Table(_path(text[token.start() : position]), token.start(), position))
        elif lexeme in "[{":
            depth += 1
        elif lexeme in "]}":
            depth -= 1
        if spans and (not lexeme.startswith("#") or not fresh_line):
            spans[-1] = spans[-1]._replace(end=position)
        fresh_line = False
    return spans


def _header_end(text: str, start: int) -> int:
    depth = 0
    for token in _TOKENS.finditer(text, start):
        depth += {"[": 1, "]": -1}.get(token.group(), 0)
        if not depth:
            return token.end()
    raise EditRefused("a table's header does not end")


def _path(header: str) -> Keys:
    value: object = tomllib.loads(header)
    path: list[str] = []
    while value:
        if isinstance(value, list):  # [[name]]
            value = cast("list[object]", value)[0]
            continue
        key, value = next(iter(cast("dict[str, object]", value).items()))
        path.append(key)
    return tuple(path)


def _dotted(keys: Keys) -> str:
    return ".".join(key if _BARE.fullmatch(key) else json.dumps(key) for key in keys)


def _rendered(keys: Keys, value: dict[str, Value]) -> str:
    """A table with its sub-tables as text."""
    import tomlkit

    whole = holder = tomlkit.table(is_super_table=True)
    for key in keys[:-1]:
        inner = tomlkit.table(is_super_table=True)
        holder[key] = inner
        holder = inner
    holder[keys[-1]] = _item(value, inline=False)
    return tomlkit.dumps(whole)


def _item(value: Value, *, inline: bool) -> Item:
    """A value for tomlkit; unless inline, a table that contains tables has a header."""
    import tomlkit

    if isinstance(value, str):
        # A literal string needs no escapes: `C:\\Users` in a basic string is invalid TOML.
        return tomlkit.string(value, literal="'" not in value and value.isprintable())
    if isinstance(value, list):
        array = tomlkit.array()
        cast("list[Item]", array).extend(_item(inner, inline=True) for inner in value)
        return array
    if not isinstance(value, dict):
        return tomlkit.item(value)
    if inline:
        table = tomlkit.inline_table()
    else:
        table = tomlkit.table(is_super_table=bool(value) and all(map(_is_table, value.values())))
    for key, inner in value.items():
        table[key] = _item(inner, inline=inline or not _is_table(inner))
    return table


def _is_table(value: Value) -> bool:
    return isinstance(value, dict) and (
        not value or any(isinstance(inner, dict) for inner in value.values())
    )


def _with_tomlkit(text: str, keys: Keys, value: Value) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        holder = cast("dict[str, object]", document)
        for key in keys[:-1]:
            if key not in holder:
                holder[key] = tomlkit.inline_table()
            holder = cast("dict[str, object]", holder[key])
        holder[keys[-1]] = _item(value, inline=True)
        return tomlkit.dumps(document)
    except (TOMLKitError, TypeError, ValueError) as error:
        raise EditRefused(f"{_dotted(keys)} cannot be set: {error}") from error


def _without_tomlkit(text: str, keys: Keys) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        holder = cast("dict[str, object]", document)
        for key in keys[:-1]:
            holder = cast("dict[str, object]", holder[key])
        del holder[keys[-1]]
        return tomlkit.dumps(document)
    except (TOMLKitError, TypeError, ValueError, KeyError) as error:
        raise EditRefused(f"{_dotted(keys)} cannot be removed: {error}") from error
