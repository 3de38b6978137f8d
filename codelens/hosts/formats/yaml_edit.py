"""Edits YAML as lines if the parent is in block style; ruamel.yaml finds the place.

Our item is inserted directly below its parent's line, so no other line changes. If the parent is
in flow style (`{}`), ruamel.yaml writes the file again, with its comments. The caller compares the
values before and after.

`parse` turns a list of named items (`- name: codelens`) into an object by name, and keys address
it as such.
"""

from __future__ import annotations

import json
import re
from io import StringIO
from typing import TYPE_CHECKING, Any, cast

from codelens.hosts.formats.config_values import (
    EditRefused,
    Keys,
    Value,
    at,
    has,
    with_value,
    without,
)

if TYPE_CHECKING:
    from ruamel.yaml import YAML

_EMPTY = re.compile(r"(:)[ \t]*(?:\{[ \t]*\}|\[[ \t]*\])")
_DEEP_DASH = re.compile(r"^( *)[^\s#-][^\n]*:[ \t]*\r?\n\1  - ", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}


def _yaml(*, kind: str) -> YAML:
    from ruamel.yaml import YAML

    yaml = YAML(typ=kind, pure=True)
    yaml.preserve_quotes = True  # type: ignore[reportAttributeAccessIssue]
    yaml.width = 1_000_000  # type: ignore[reportAttributeAccessIssue]
    return yaml


def _load(text: str, *, kind: str) -> Any:  # noqa: ANN401 - nodes of ruamel.yaml
    from ruamel.yaml.error import YAMLError

    try:
        return cast("Any", _yaml(kind=kind)).load(text)
    except YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        raise EditRefused(f"{where}{getattr(error, 'problem', None) or error}") from error
    except (ValueError, RecursionError) as error:
        raise EditRefused(str(error)) from error


def parse(text: str, named: Keys) -> Value:
    """The value of the text; the list at `named`, if given, becomes an object by name.

    Raises:
        EditRefused: the text is not YAML, is not a mapping, or has several documents.
    """
    value: Any = _load(text, kind="safe")
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise EditRefused("it is not a mapping")
    if named:
        holder = cast("dict[str, Any]", value)
        for key in named[:-1]:
            holder = cast("dict[str, Any]", holder.get(key) or {})
        items: Any = holder.get(named[-1])
        if isinstance(items, list):
            holder[named[-1]] = _by_name(cast("list[Any]", items))
    return cast("Value", value)


def _by_name(items: list[Any]) -> dict[str, Any]:
    by_name: dict[str, Any] = {}
    for number, item in enumerate(items):
        name: Any = item.get("name") if isinstance(item, dict) else None  # type: ignore[reportUnknownMemberType]
        # The key of an item without a name, or with a repeated one, is its position.
        label = name if isinstance(name, str) and name not in by_name else f"\0{number}"
        by_name[label] = item
    return by_name


def put(text: str, keys: Keys, value: Value, *, named: bool) -> str:
    """The text with `value` at `keys`, which name an item below a top-level key.

    Args:
        text: valid YAML, a mapping.
        keys: the keys of the parent and the item; a third key names a value inside the item.
        value: the new value.
        named: whether the parent is a list in which the item's key is its `name`.

    Raises:
        EditRefused: the edit cannot be made.
    """
    now = parse(text, keys[:1] if named else ())
    if len(keys) > 2:
        value, keys = with_value(at(now, keys[:2]), keys[2:], value), keys[:2]
    if at(now, keys) is not None:
        text = take(text, keys, named=named)
        now = parse(text, keys[:1] if named else ())
    fresh = _by_lines(text, keys, value, named=named)
    new_value = with_value(now, keys, value)
    if fresh is not None and _means(fresh, new_value, keys, named=named):
        return fresh
    fresh = _rewritten(text, keys, value, named=named)
    if not _means(fresh, new_value, keys, named=named):
        raise EditRefused("its layout cannot be kept; write the entry by hand")
    return fresh


def _means(text: str, value: Value, keys: Keys, *, named: bool) -> bool:
    try:
        return parse(text, keys[:1] if named else ()) == value
    except EditRefused:
        return False


def _by_lines(text: str, keys: Keys, value: Value, *, named: bool) -> str | None:
    """The text with inserted lines; None if the parent is not in block style."""
    root: Any = _load(text, kind="rt")
    eol = "\r\n" if "\r\n" in text else "\n"
    parent, name = keys
    lines = text.splitlines(keepends=True)
    if root is None or parent not in root:
        fresh = "".join(
            f"{line}{eol}" for line in [f"{parent}:", *_item(name, value, 2, named=named)]
        )
        last = next((at for at, line in enumerate(lines) if line.rstrip() == "..."), len(lines))
        before, after = "".join(lines[:last]), "".join(lines[last:])
        return before + ("" if not before or before.endswith("\n") else eol) + fresh + after
    line: int = root.lc.key(parent)[0]
    holder: Any = root[parent]
    column = 2
    if holder is not None:
        if not hasattr(holder, "fa"):
            return None
        if not holder:
            lines[line] = _EMPTY.sub(r"\1", lines[line], count=1)
        elif holder.fa.flow_style():
            return None
        else:
            column = holder.lc.col
    if not lines[line].endswith("\n"):
        lines[line] += eol
    fresh = [f"{line}{eol}" for line in _item(name, value, column, named=named)]
    return "".join((*lines[: line + 1], *fresh, *lines[line + 1 :]))


def _item(name: str, value: Value, column: int, *, named: bool) -> list[str]:
    """The lines of one item, indented by `column` spaces."""
    if not named:
        return [f"{' ' * column}{_scalar(name)}:", *_lines(value, column + 2)]
    first, *rest = _lines(value, column + 2)
    return [f"{' ' * column}- {first.lstrip()}", *rest]


def _lines(value: Value, column: int) -> list[str]:
    lines: list[str] = []
    for key, item in cast("dict[str, Value]", value).items():
        start = f"{' ' * column}{_scalar(key)}:"
        if isinstance(item, dict) and item:
            lines += [start, *_lines(item, column + 2)]
        else:
            lines.append(f"{start} {_scalar(item)}")
    return lines


def _scalar(value: Value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_scalar(item) for item in value)}]"
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    if value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    return json.dumps(value)


def take(text: str, keys: Keys, *, named: bool) -> str:
    """The text without the value at `keys` (one or two keys); unchanged if it has none.

    Raises:
        EditRefused: the edit cannot be made.
    """
    now = parse(text, keys[:1] if named else ())
    if not has(now, keys):
        return text
    value = without(now, keys)
    fresh = _without_lines(text, keys, named=named)
    if fresh is not None and _means(fresh, value, keys, named=named):
        return fresh
    return _rewritten(text, keys, None, named=named)


def _without_lines(text: str, keys: Keys, *, named: bool) -> str | None:
    root: Any = _load(text, kind="rt")
    lines = text.splitlines(keepends=True)
    if len(keys) == 1:
        start: int = root.lc.key(keys[0])[0]
        return "".join((*lines[:start], *lines[_end(lines, start, root.lc.col) :]))
    holder: Any = root[keys[0]]
    if not hasattr(holder, "fa") or holder.fa.flow_style():
        return None
    place: Any = _place(holder, keys[1]) if named else keys[1]
    start = holder.lc.item(place)[0] if named else holder.lc.key(place)[0]
    end = _end(lines, start, holder.lc.col)
    if len(holder) == 1:
        owner: int = root.lc.key(keys[0])[0]
        lines[owner] = lines[owner].replace(":", ": []" if named else ": {}", 1)
    return "".join((*lines[:start], *lines[end:]))


def _end(lines: list[str], start: int, column: int) -> int:
    """The line after the last line of the item at line `start`."""
    end = start + 1
    for number in range(start + 1, len(lines)):
        line = lines[number]
        bare = line.lstrip(" ")
        if not bare.strip() or bare.startswith("#"):
            continue
        if len(line) - len(bare) <= column:
            break
        end = number + 1
    return end


def _place(items: Any, name: str) -> int:  # noqa: ANN401 - a node of ruamel.yaml
    return next(number for number, item in enumerate(items) if item.get("name") == name)


def _rewritten(text: str, keys: Keys, value: Value, *, named: bool) -> str:
    """The text as ruamel.yaml writes it, with `value` at `keys`; None removes it."""
    root: Any = _load(text, kind="rt")
    if root is None:
        raise EditRefused("it is not a mapping")
    parent, *rest = keys
    if not rest:
        del root[parent]
    elif named:
        items: Any = root.get(parent) or []
        if not hasattr(items, "insert"):
            raise EditRefused(f"{parent!r} is not a list")
        if value is None:
            del items[_place(items, rest[0])]
        else:
            items.insert(0, value)
        root[parent] = items
    else:
        holder: Any = root.get(parent) or {}
        if not hasattr(holder, "items"):
            raise EditRefused(f"{parent!r} is not a mapping")
        if value is None:
            del holder[rest[0]]
        else:
            holder[rest[0]] = value
        root[parent] = holder
    out = StringIO()
    writer: Any = _yaml(kind="rt")
    if _DEEP_DASH.search(text):
        writer.indent(mapping=2, sequence=4, offset=2)
    writer.dump(root, out)
    return out.getvalue().replace("\n", "\r\n") if "\r\n" in text else out.getvalue()
