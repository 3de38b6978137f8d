"""One interface to all formats of configuration files.

    parse(text, keys)        the value of the text; empty text means an empty object
    put(text, keys, value)   the text with the value at `keys`
    take(text, keys)         the text without it
    bare(text, keys)         whether a parent is empty, without even a comment

`keys` is the path of the item; a format that writes items as a list by name needs it to parse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from codelens.hosts.formats import json_edit
from codelens.hosts.formats.config_values import EditRefused, Keys, Value, at, has, without

BOM = b"\xef\xbb\xbf"


class Format(NamedTuple):
    """The operations on a text in one format; all raise `EditRefused`."""

    parse: Callable[[str, Keys], Value]
    put: Callable[[str, Keys, Value], str]
    take: Callable[[str, Keys], str]
    bare: Callable[[str, Keys], bool]
    append: Callable[[str, Keys, Sequence[Value]], str] | None = None
    take_items: Callable[[str, Keys, Sequence[Value]], str] | None = None


def format_of(name: str) -> Format:
    """The format with this name: `json`, `jsonc`, `toml`, `yaml` or `yaml-list`."""
    return _MAKERS[name]()


def _json(*, comments: bool) -> Format:
    def parse(text: str, _: Keys) -> Value:
        return json_edit.parse(text, comments=comments)

    return Format(
        parse=parse,
        put=partial(json_edit.put, comments=comments),
        take=partial(json_edit.take, comments=comments),
        bare=partial(json_edit.is_bare, comments=comments),
        append=partial(json_edit.append, comments=comments),
        take_items=partial(json_edit.take_items, comments=comments),
    )


def _toml() -> Format:
    from codelens.hosts.formats import toml_edit

    def parse(text: str, _: Keys) -> Value:
        return toml_edit.parse(text)

    def bare(text: str, keys: Keys) -> bool:
        return at(toml_edit.parse(text), keys) == {}

    return Format(parse=parse, put=toml_edit.put, take=toml_edit.take, bare=bare)


def _yaml(*, named: bool) -> Format:
    from codelens.hosts.formats import yaml_edit

    def parse(text: str, keys: Keys) -> Value:
        return yaml_edit.parse(text, keys[:1] if named else ())

    def bare(text: str, keys: Keys) -> bool:
        return not at(yaml_edit.parse(text, ()), keys)

    return Format(
        parse=parse,
        put=partial(yaml_edit.put, named=named),
        take=partial(yaml_edit.take, named=named),
        bare=bare,
    )


_MAKERS: dict[str, Callable[[], Format]] = {
    "json": partial(_json, comments=False),
    "jsonc": partial(_json, comments=True),
    "toml": _toml,
    "yaml": partial(_yaml, named=False),
    "yaml-list": partial(_yaml, named=True),
}


def decoded(data: bytes) -> str:
    """The text of a file, without its byte order mark.

    Raises:
        EditRefused: the file is not UTF-8.
    """
    try:
        return data.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise EditRefused(f"it is not UTF-8 (byte {error.start})") from error


def encoded(text: str, like: bytes) -> bytes:
    """The bytes of a text, with a byte order mark if `like` has one."""
    return (BOM if like.startswith(BOM) else b"") + text.encode("utf-8")


# Enforces the rules for every edit: all other values stay the same, and empty parents are removed.


def checked(style: str, before: str, after: str, keys: Keys) -> str:
    """`after`, once it is checked that its value differs from that of `before` only at `keys`."""
    parse = format_of(style).parse
    left, right = (emptied(without(parse(text, keys), keys), keys) for text in (before, after))
    if left != right:
        raise EditRefused("the change would alter other parts of the file")
    return after


def emptied(value: Value, keys: Keys) -> Value:
    """`value` without empty parents of `keys`, which are added and removed with the entry."""
    for depth in range(len(keys) - 1, 0, -1):
        if not at(value, keys[:depth]):
            value = without(value, keys[:depth])
    return value


def missing_parents(style: str, text: str | None, keys: Keys) -> list[Keys]:
    """The parents of `keys` that a text does not have, outermost first."""
    now = format_of(style).parse(text or "", keys)
    return [keys[:depth] for depth in range(1, len(keys)) if not has(now, keys[:depth])]


def pruned(style: str, text: str, created_keys: Sequence[Keys]) -> str:
    """The text without the empty parents in `created_keys`."""
    chosen = format_of(style)
    for keys in sorted(created_keys, key=len, reverse=True):
        now = chosen.parse(text, keys)
        if has(now, keys) and not at(now, keys) and chosen.bare(text, keys):
            text = chosen.take(text, keys)
    return text
