"""Saved contexts as JSON, to be taken to another machine or clone and back.

The object has `codelens_contexts` (the version of the format), `repository` (a folder) and
`contexts` (a list, each with its `items`). Hashes are in hex and paths in their printed form. What
is read is checked as if it were typed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import cast

from codelens.errors import CodelensError, SettingError
from codelens.memory.context_fields import MAX_ITEMS, category_of, name_of, note_of, tags_of
from codelens.paths import from_printed, printed
from codelens.store.saved.context_rows import Context, Item

FORMAT = 1
_MARK = "codelens_contexts"
_HASHES = ("body", "shape", "content")
_KINDS = ("symbol", "lines", "file")
_COMMIT = re.compile("[0-9a-f]{40}")
_MAX_NUMBER = 1 << 53
Json = Mapping[str, object]


def exported(contexts: list[Context], repository: str) -> Json:
    """All of some contexts, as plain values."""
    return {
        _MARK: FORMAT,
        "repository": repository,
        "contexts": [_plain(context) for context in contexts],
    }


def _plain(context: Context) -> Json:
    fields: dict[str, object] = context._asdict()
    fields["tags"] = list(context.tags)
    fields["items"] = [_plain_item(item) for item in context.items]
    return fields


def _plain_item(item: Item) -> Json:
    fields: dict[str, object] = item._asdict()
    fields["path"] = printed(item.path)
    for key in _HASHES:
        fields[key] = getattr(item, key).hex()
    return fields


def imported(text: str) -> list[Context]:
    """The contexts of an export.

    Raises:
        SettingError: it is none, or not whole.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingError(f"this is not JSON: {str(error)[:200]}") from error
    whole = _object(value, "the export")
    if whole.get(_MARK) != FORMAT:
        raise SettingError(
            f'this is not an export of contexts: it does not contain "{_MARK}": {FORMAT}; '
            "`codelens export contexts` makes one"
        )
    rows = [_context(_object(row, "a context")) for row in _list(whole, "contexts")]
    if len({context.name for context in rows}) < len(rows):
        raise SettingError("two contexts of the export have the same name; rename one")
    return rows


def _context(value: Json) -> Context:
    name = name_of(_text(value, "name"))
    try:
        items = tuple(_item(_object(item, "an item")) for item in _list(value, "items"))
        if len(items) > MAX_ITEMS:
            raise SettingError(f"it has {len(items)} items, of {MAX_ITEMS} at most")
        tags = [tag for tag in _list(value, "tags") if isinstance(tag, str)]
        return Context(
            name=name,
            note=note_of(_text(value, "note")),
            category=category_of(_text(value, "category")),
            tags=tags_of(tags),
            pinned=value.get("pinned") is True,
            created_s=_number(value, "created_s"),
            saved_s=_number(value, "saved_s"),
            expires_s=None if value.get("expires_s") is None else _number(value, "expires_s"),
            branch=_text(value, "branch"),
            head=_commit(_text(value, "head")),
            items=items,
        )
    except (CodelensError, ValueError) as error:
        raise SettingError(f"the context {name!r} cannot be read: {error}") from error


def _item(value: Json) -> Item:
    kind = _text(value, "kind")
    if kind not in _KINDS:
        raise SettingError(f"unknown kind of item {kind[:50]!r}; the kinds are {', '.join(_KINDS)}")
    path = from_printed(_text(value, "path"))
    parts = path.split(b"/")
    if path.startswith(b"/") or b".." in parts or not path:
        raise SettingError(f"the path {printed(path)[:200]!r} leads out of the repository")
    body, shape, content = (bytes.fromhex(_text(value, key)) for key in _HASHES)
    start_line, end_line = _number(value, "start_line"), _number(value, "end_line")
    if kind == "lines" and not 1 <= start_line <= end_line:
        raise SettingError(f"there are no lines {start_line}-{end_line}")
    return Item(
        kind,
        path,
        symbol=_text(value, "symbol"),
        number=max(_number(value, "number"), 1),
        start_line=start_line,
        end_line=end_line,
        below=_number(value, "below"),
        body=body,
        shape=shape,
        content=content,
        ref=_text(value, "ref"),
        head=_commit(_text(value, "head")),
    )


def _commit(text: str) -> str:
    if text and not _COMMIT.fullmatch(text):
        raise SettingError(f"{text[:50]!r} is not a commit id")
    return text


def _object(value: object, subject: str) -> Json:
    if not isinstance(value, dict):
        raise SettingError(f"{subject} is not a JSON object")
    return cast(Json, value)


def _list(json: Json, key: str) -> list[object]:
    value = json.get(key)
    if not isinstance(value, list):
        raise SettingError(f'"{key}" must be a list')
    return cast(list[object], value)


def _text(json: Json, key: str) -> str:
    value = json.get(key, "")
    if not isinstance(value, str):
        raise SettingError(f'"{key}" must be a string')
    return value.encode("utf-8", "replace").decode("utf-8")


def _number(json: Json, key: str) -> int:
    value = json.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _MAX_NUMBER:
        raise SettingError(f'"{key}" must be a number')
    return value
