"""The formats of configuration files, behind one face.

    parse(text, keys)        what the text means; empty text means an empty object
    put(text, keys, value)   the text with the value there
    take(text, keys)         the text without it
    bare(text, keys)         whether a parent holds nothing, not even a comment

`keys` lead to the item; a format that writes items as a list by name needs them to parse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from codelens.hosts import jsontext
from codelens.hosts.values import EditRefused, Keys, Value, at

BOM = b"\xef\xbb\xbf"


class Format(NamedTuple):
    """What can be done with a text in one format; all raise `EditRefused`."""

    parse: Callable[[str, Keys], Value]
    put: Callable[[str, Keys, Value], str]
    take: Callable[[str, Keys], str]
    bare: Callable[[str, Keys], bool]
    append: Callable[[str, Keys, Sequence[str]], str] | None = None
    take_items: Callable[[str, Keys, Sequence[str]], str] | None = None


def format_of(name: str) -> Format:
    """The format called `json`, `jsonc`, `toml`, `yaml` or `yaml-list`."""
    return _MAKERS[name]()


def _json(*, comments: bool) -> Format:
    def parse(text: str, _: Keys) -> Value:
        return jsontext.parse(text, comments=comments)

    return Format(
        parse=parse,
        put=partial(jsontext.put, comments=comments),
        take=partial(jsontext.take, comments=comments),
        bare=partial(jsontext.is_bare, comments=comments),
        append=partial(jsontext.append, comments=comments),
        take_items=partial(jsontext.take_items, comments=comments),
    )


def _toml() -> Format:
    from codelens.hosts import tomltext

    def parse(text: str, _: Keys) -> Value:
        return tomltext.parse(text)

    def bare(text: str, keys: Keys) -> bool:
        return at(tomltext.parse(text), keys) == {}

    return Format(parse=parse, put=tomltext.put, take=tomltext.take, bare=bare)


def _yaml(*, named: bool) -> Format:
    from codelens.hosts import yamltext

    def parse(text: str, keys: Keys) -> Value:
        return yamltext.parse(text, keys[:1] if named else ())

    def bare(text: str, keys: Keys) -> bool:
        return not at(yamltext.parse(text, ()), keys)

    return Format(
        parse=parse,
        put=partial(yamltext.put, named=named),
        take=partial(yamltext.take, named=named),
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
        EditRefused: it is not UTF-8.
    """
    try:
        return data.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise EditRefused(f"it is not UTF-8 (byte {error.start})") from error


def encoded(text: str, like: bytes) -> bytes:
    """The bytes of a text, with a byte order mark if `like` has one."""
    return (BOM if like.startswith(BOM) else b"") + text.encode("utf-8")
