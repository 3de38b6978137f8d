"""The fields of saved contexts: their validation, their JSON exports, and the errors about them.

CodelensError
+-- ContextError       a saved context
+-- ContextExists  the name is taken
+-- NoSuchContext  no context has the name; has the nearest names
+-- NotSaved       handles that cannot be followed; has the reasons
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from codelens.errors import CodelensError, SettingError
from codelens.paths import HIDDEN, from_printed, printed
from codelens.store.saved.context_rows import Context, Item


class ContextError(CodelensError):
    """A context cannot be saved or found."""


class ContextExists(ContextError):
    """The name of a new context is taken."""

    def __init__(self, name: str, about: str) -> None:
        self.name = name
        super().__init__(
            f"{name!r} is taken ({about}); nothing was saved",
            typed="choose another name, or replace it with --replace",
            called="choose another name, or replace it with replace: true",
        )


class NoSuchContext(ContextError):
    """No saved context has the name."""

    def __init__(self, name: str, near: Sequence[str] = ()) -> None:
        self.name = name
        self.near = tuple(near)
        hint = f"did you mean {', '.join(near)}?" if near else ""
        super().__init__(
            f"nothing is saved as {name[:200]!r}",
            typed=hint or "`codelens load` lists all saved contexts",
            called=hint or "cl_load without a query lists all saved notes",
        )


class NotSaved(ContextError):
    """Some handles name nothing in this view.

    Args:
        reasons: one for each such handle.
        of: how many handles were given.
        partial: some files were not checked yet, and may contain what is missing.
    """

    def __init__(self, reasons: Sequence[str], of: int, *, partial: bool = False) -> None:
        self.reasons = tuple(reasons)
        count = f"{len(reasons)} of {of} handles cannot be saved: " if of > 1 else ""
        shown_reasons = list(reasons)
        if partial:
            shown_reasons.append("not all files were checked yet: ask again in a moment")
        super().__init__(f"nothing was saved: {count}{'; '.join(shown_reasons)}")


# Validates the fields of a context, so that they can be stored and printed.

CATEGORIES = ("decision", "pattern", "bug_fix", "architecture", "convention", "auto", "note")
FOR_EVER = "never"
"""A time to live without end."""
MAX_NAME, MAX_NOTE, MAX_ITEMS, MAX_TAGS = 100, 100_000, 200, 50
_MAX_TTL_S = 100 * 365 * 86_400
_TTL = re.compile(r"([0-9]{1,6})\s*([mhdw])\Z")
_SECONDS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_CONTROL = re.compile(rf"[\x00-\x1f{HIDDEN}]")


def name_of(text: str) -> str:
    """Validate a context's name.

    Raises:
        SettingError: it is empty, too long, or does not fit on one line.
    """
    name = _stored(text).strip()
    if not name or len(name) > MAX_NAME or _CONTROL.search(name):
        raise SettingError(
            f"a name must have 1 to {MAX_NAME} characters on one line, such as auth-flow, "
            f"not {name[:120]!r}"
        )
    return name


def note_of(text: str) -> str:
    """Validate a context's note.

    Raises:
        SettingError: it is too long.
    """
    note = _stored(text).strip()
    if len(note) > MAX_NOTE:
        raise SettingError(
            f"the note has {len(note):,} characters, but the maximum is {MAX_NOTE:,}: shorten it, "
            "and refer to code by handles"
        )
    return note


def category_of(text: str) -> str:
    """Validate a context's category.

    Raises:
        SettingError: there is no such category.
    """
    category = text.strip().lower().replace("-", "_").replace(" ", "_")
    if category not in CATEGORIES:
        raise SettingError(
            f"unknown category {text[:50]!r}; the categories are {', '.join(CATEGORIES)}"
        )
    return category


def tags_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Validate tags and drop duplicates; a text may contain several, separated by commas.

    Raises:
        SettingError: a tag is too long, or there are too many.
    """
    parts = (part.strip() for text in texts for part in _stored(text).split(","))
    tags = tuple(dict.fromkeys(part for part in parts if part))
    if len(tags) > MAX_TAGS:
        raise SettingError(f"{len(tags)} tags are too many; the maximum is {MAX_TAGS}")
    for tag in tags:
        if len(tag) > MAX_NAME or _CONTROL.search(tag):
            raise SettingError(
                f"a tag must have at most {MAX_NAME} characters on one line; not {tag[:120]!r}"
            )
    return tags


def seconds_of(text: str) -> int | None:
    """Parse a time to live, `90m`, `12h`, `30d`, `2w`, as seconds; None for `never` or empty.

    Raises:
        SettingError: it is not a time to live.
    """
    if text.strip().lower() in {"", FOR_EVER}:
        return None
    match = _TTL.match(text.strip().lower())
    seconds = int(match[1]) * _SECONDS[match[2]] if match else 0
    if not 0 < seconds <= _MAX_TTL_S:
        raise SettingError(
            "a time to live must be a number of minutes, hours, days or weeks, "
            f"such as 12h, 30d or 2w, or never, not {text[:50]!r}"
        )
    return seconds


def _stored(text: str) -> str:
    """Replace unpaired surrogates, which an argument may contain but which cannot be stored."""
    return text.encode("utf-8", "replace").decode("utf-8")


# Exports and imports saved contexts as JSON, for another machine or clone.
#
# The object has `codelens_contexts` (the version of the format), `repository` (a folder) and
# `contexts` (a list, each with its `items`). Hashes are in hex and paths in their printed form.
# Imported fields are validated like typed ones.

FORMAT = 1
_MARK = "codelens_contexts"
_HASHES = ("body", "shape", "content")
_KINDS = ("symbol", "lines", "file")
_COMMIT = re.compile("[0-9a-f]{40}")
_MAX_NUMBER = 1 << 53
Json = Mapping[str, object]


def exported(contexts: list[Context], repository: str) -> Json:
    """Contexts as plain values, for JSON."""
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
    """Parse an export of contexts.

    Raises:
        SettingError: it is not an export, or is incomplete.
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
            raise SettingError(f"it has {len(items)} items, but the maximum is {MAX_ITEMS}")
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
