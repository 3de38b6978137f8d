"""The edits of configuration files: an entry, approvals, a block of lines, a whole file.

An edit is a pure function of text: it does not access files. After each change the values are
compared, and the change is refused if anything else in the file differs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast

from codelens.hosts.formats.config_formats import checked, format_of, missing_parents, pruned
from codelens.hosts.formats.config_values import (
    EditRefused,
    Keys,
    Value,
    at,
    has,
    nested,
    with_value,
)
from codelens.hosts.host_descriptor import (
    arguments_of,
    command_of,
    is_wrapped,
    leads_to_codelens,
    starts_codelens,
    url_of,
)

BEGIN = "<!-- codelens:begin -->"
END = "<!-- codelens:end -->"
# Only on lines of their own: prose may mention the markers.
_BEGINS = re.compile(rf"^{re.escape(BEGIN)}(?=[ \t]*\r?$)", re.MULTILINE)
_ENDS = re.compile(rf"^{re.escape(END)}(?=[ \t]*\r?$)", re.MULTILINE)
_BLOCK = re.compile(rf"{_BEGINS.pattern}.*?{_ENDS.pattern}", re.DOTALL | re.MULTILINE)


def put_block(text: str, lines: str) -> str:
    """The text with `lines` between the markers; appended after a blank line if there are none.

    Raises:
        EditRefused: the markers are not one pair.
    """
    eol = "\r\n" if "\r\n" in text else "\n"
    block = eol.join((BEGIN, *block_lines(lines), END))
    if _is_there(text):
        return _BLOCK.sub(lambda _: block, text)
    if not text:
        return block + eol
    gap = "" if text.endswith(("\n\n", "\r\n\r\n")) else eol
    return text + ("" if text.endswith("\n") else eol) + gap + block + eol


def take_block(text: str) -> str:
    """The text without the block and the blank line before it; unchanged if it has no block.

    Raises:
        EditRefused: the markers are not one pair.
    """
    if not _is_there(text):
        return text
    match = _BLOCK.search(text)
    assert match is not None, "one pair of markers was counted"
    before, after = text[: match.start()], text[match.end() :]
    for eol in ("\r\n", "\n"):
        if after.startswith(eol):
            after = after.removeprefix(eol)
            if before.endswith(eol * 2) and (not after or after.startswith(eol)):
                before = before.removesuffix(eol)
            break
    return before + after


def has_block(text: str) -> bool:
    """Whether the text has exactly one complete block."""
    try:
        return _is_there(text)
    except EditRefused:
        return False


def text_inside_block(text: str) -> list[str] | None:
    """The lines between the markers; None unless there is exactly one complete block."""
    match = _BLOCK.search(text) if has_block(text) else None
    return None if match is None else block_lines(match.group()[len(BEGIN) : -len(END)])


def block_lines(text: str) -> list[str]:
    """The lines of a block, without surrounding white space."""
    return text.strip().splitlines()


def _is_there(text: str) -> bool:
    begins = [match.start() for match in _BEGINS.finditer(text)]
    ends = [match.start() for match in _ENDS.finditer(text)]
    if not begins and not ends:
        return False
    if len(begins) == len(ends) == 1 and begins < ends:
        return True
    order = ", with the end before the beginning" if len(begins) == len(ends) == 1 else ""
    raise EditRefused(
        f"it has {len(begins)} `{BEGIN}` and {len(ends)} `{END}`{order}, but exactly one pair is "
        "expected; remove the extra ones by hand"
    )


# The edits.

OWN_FILE = "installed by codelens"
"""Marks files that codelens owns as a whole."""


class Edit(Protocol):
    """A change to a text; None stands for a missing file."""

    @property
    def what(self) -> str:
        """Its name in messages, in a few words."""
        ...

    def put(self, text: str | None) -> str:
        """The text with the change.

        Raises:
            EditRefused: the change cannot be made safely.
        """
        ...

    def take(self, text: str, created_keys: Sequence[Keys]) -> str | None:
        """The text without the change, and without the empty parents in `created_keys`.

        Raises:
            EditRefused: codelens did not write the text at this place.
        """
        ...

    def is_there(self, text: str) -> bool:
        """Whether the text has the change."""
        ...

    def parents(self, text: str | None) -> list[Keys]:
        """The parents that `put` would create; empty for an edit without keys."""
        return []

    def lacking(self, text: str | None) -> Edit:
        """The edit reduced to the parts that the text lacks, if it has several parts."""
        return self

    def is_changed(self, text: str, written: Sequence[Edit]) -> bool:
        """Whether others changed the part that `put` would replace after we wrote it.

        Args:
            text: the file.
            written: the recorded edits to it.
        """
        return False


@dataclass(frozen=True, slots=True)
class Entry(Edit):
    """The entry with which a host starts codelens.

    Attributes:
        format: a format of `format_of`.
        keys: its path in the file.
        command: the program.
        launch: the fields that start it; in an existing entry, only the program is updated.
        extras: fields for a new entry; an existing entry does not get them.
        approvals: fields that let tools run without asking; also added to an existing entry.
        also: paths of older forms of the entry, which are removed with it.
    """

    format: str
    keys: Keys
    command: str
    launch: dict[str, Value]
    extras: dict[str, Value]
    approvals: dict[str, Value]
    also: tuple[Keys, ...] = ()

    @property
    def what(self) -> str:
        """See `Edit`."""
        return "MCP entry"

    @property
    def is_over_http(self) -> bool:
        """Whether it connects to a running server; its file then contains the token."""
        return bool(url_of(self.launch))

    def put(self, text: str | None) -> str:
        """See `Edit`."""
        text = text or ""
        style = format_of(self.format)
        before = style.parse(text, self.keys)
        if not has(before, self.keys):
            value: Value = {**self.launch, **self.extras}
            value = _merged(value, self.approvals)
            return checked(self.format, text, style.put(text, self.keys, value), self.keys)
        now = at(before, self.keys)
        if not isinstance(now, dict) or not leads_to_codelens(now):
            raise EditRefused(
                f"{'.'.join(self.keys)} exists but does not start codelens; rename or remove it"
            )
        if self.is_over_http and not url_of(now):
            value = _merged({**self.launch, **self.extras}, self.approvals)
            return checked(self.format, text, style.put(text, self.keys, value), self.keys)
        entry: Value = now
        if self.is_over_http:
            entry = {**now, **self.launch}
        elif not url_of(now) and not is_wrapped(command_of(now)):
            entry = self._renewed(now, self.launch, arguments_of(command_of(now)))
        entry = cast("dict[str, Value]", _merged(entry, self.approvals))
        fresh = text
        for key, value in entry.items():
            if key not in now or now[key] != value:
                fresh = style.put(fresh, (*self.keys, key), value)
        return checked(self.format, text, fresh, self.keys)

    def _renewed(self, now: Value, launch: Value, words: list[str]) -> Value:
        """The existing entry with the current program; the user's arguments `words` stay."""
        if isinstance(launch, dict) and isinstance(now, dict):
            fresh = dict(now)
            for key, value in launch.items():
                fresh[key] = self._renewed(now[key], value, words) if key in now else value
            return fresh
        if isinstance(launch, list) and isinstance(now, list) and words != ["serve"]:
            return cast("Value", [self.command, *words] if launch[:1] == [self.command] else words)
        if launch == self.command or isinstance(launch, list):
            return launch
        return now

    def fate(self, text: str | None) -> str:
        """The remark about another program in an existing entry, or an empty string."""
        now = at(format_of(self.format).parse(text or "", self.keys), self.keys)
        if url_of(now) and not self.is_over_http:
            return "connects to a server over HTTP that you configured; it was left unchanged"
        if (
            not starts_codelens(now)
            or self.is_over_http
            or (program := command_of(now)[0]) == self.command
        ):
            return ""
        if is_wrapped(command_of(now)):
            return f"starts codelens with {program}, which you configured; it was left unchanged"
        return f"started {program}; it is now {self.command}"

    def take(self, text: str, created_keys: Sequence[Keys]) -> str | None:
        """See `Edit`."""
        style = format_of(self.format)
        fresh = text
        for keys in (self.keys, *self.also):
            now = at(style.parse(fresh, keys), keys)
            if now is None:
                continue
            if not leads_to_codelens(now):
                raise EditRefused(f"{'.'.join(keys)} does not start codelens")
            fresh = checked(self.format, fresh, style.take(fresh, keys), keys)
        return pruned(self.format, fresh, created_keys)

    def is_there(self, text: str) -> bool:
        """See `Edit`."""
        return leads_to_codelens(at(format_of(self.format).parse(text, self.keys), self.keys))

    def parents(self, text: str | None) -> list[Keys]:
        """See `Edit`."""
        return missing_parents(self.format, text, self.keys)


@dataclass(frozen=True, slots=True)
class Items(Edit):
    """Permissions as strings in a list."""

    format: str
    keys: Keys
    items: tuple[str, ...]

    @property
    def what(self) -> str:
        """See `Edit`."""
        return "approval of the tools"

    def put(self, text: str | None) -> str:
        """See `Edit`."""
        style = format_of(self.format)
        before = style.parse(text or "", self.keys)
        assert style.append is not None, f"{self.format} does not support lists"
        fresh = style.append(text or "", self.keys, self.items)
        present = cast("list[Value]", at(before, self.keys) or [])
        added = [item for item in self.items if item not in present]
        if style.parse(fresh, self.keys) != with_value(before, self.keys, [*present, *added]):
            raise EditRefused("the change would alter other parts of the file")
        return fresh

    def take(self, text: str, created_keys: Sequence[Keys]) -> str | None:
        """See `Edit`."""
        style = format_of(self.format)
        style.parse(text, self.keys)
        assert style.take_items is not None, f"{self.format} does not support lists"
        return pruned(self.format, style.take_items(text, self.keys, self.items), created_keys)

    def is_there(self, text: str) -> bool:
        """See `Edit`."""
        now = at(format_of(self.format).parse(text, self.keys), self.keys)
        return isinstance(now, list) and any(item in now for item in self.items)

    def parents(self, text: str | None) -> list[Keys]:
        """See `Edit`."""
        return missing_parents(self.format, text, (*self.keys, ""))

    def lacking(self, text: str | None) -> Edit:
        """See `Edit`."""
        present = at(format_of(self.format).parse(text or "", self.keys), self.keys)
        values = present if isinstance(present, list) else []
        return replace(self, items=tuple(item for item in self.items if item not in values))


@dataclass(frozen=True, slots=True)
class Flags(Edit):
    """Permissions as keys, named after tools, with a value."""

    format: str
    keys: Keys
    values: dict[str, Value]

    @property
    def what(self) -> str:
        """See `Edit`."""
        return "approval of the tools"

    def put(self, text: str | None) -> str:
        """See `Edit`; a value that the user has set stays."""
        style = format_of(self.format)
        text = text or ""
        entry_wanted = style.parse(text, self.keys)
        for key, value in self.values.items():
            if not has(entry_wanted, (*self.keys, key)):
                text = style.put(text, (*self.keys, key), value)
                entry_wanted = with_value(entry_wanted, (*self.keys, key), value)
        if style.parse(text, self.keys) != entry_wanted:
            raise EditRefused("the change would alter other parts of the file")
        return text

    def take(self, text: str, created_keys: Sequence[Keys]) -> str | None:
        """See `Edit`."""
        style = format_of(self.format)
        for key, value in self.values.items():
            if at(style.parse(text, self.keys), (*self.keys, key)) == value:
                text = style.take(text, (*self.keys, key))
        return pruned(self.format, text, created_keys)

    def is_there(self, text: str) -> bool:
        """See `Edit`."""
        now = format_of(self.format).parse(text, self.keys)
        return any(at(now, (*self.keys, key)) == value for key, value in self.values.items())

    def parents(self, text: str | None) -> list[Keys]:
        """See `Edit`."""
        return missing_parents(self.format, text, (*self.keys, ""))

    def lacking(self, text: str | None) -> Edit:
        """See `Edit`."""
        present = format_of(self.format).parse(text or "", self.keys)
        return replace(self, values={
            key: value for key, value in self.values.items() if not has(present, (*self.keys, key))
        })  # fmt: skip


@dataclass(frozen=True, slots=True)
class Block(Edit):
    """Lines between markers in a file of instructions."""

    lines: str

    @property
    def what(self) -> str:
        """See `Edit`."""
        return "lines in the instructions"

    def put(self, text: str | None) -> str:
        """See `Edit`."""
        return put_block(text or "", self.lines)

    def take(self, text: str, created_keys: Sequence[Keys]) -> str | None:
        """See `Edit`."""
        return take_block(text)

    def is_there(self, text: str) -> bool:
        """See `Edit`."""
        return has_block(text)

    def is_changed(self, text: str, written: Sequence[Edit]) -> bool:
        """See `Edit`; without the ledger, codelens owns the text between the markers."""
        recorded_blocks = [block_lines(edit.lines) for edit in written if isinstance(edit, Block)]
        now = text_inside_block(text)
        return bool(recorded_blocks) and now not in (
            None,
            block_lines(self.lines),
            *recorded_blocks,
        )


@dataclass(frozen=True, slots=True)
class Whole(Edit):
    """A file that codelens owns as a whole: a skill, a command."""

    kind: str
    text: str

    @property
    def what(self) -> str:
        """See `Edit`."""
        return self.kind

    def put(self, text: str | None) -> str:
        """See `Edit`."""
        if text and text != self.text and OWN_FILE not in text:
            raise EditRefused("codelens did not write the existing file of this name")
        return self.text

    def take(self, text: str, created_keys: Sequence[Keys]) -> str | None:
        """See `Edit`."""
        if text == self.text:
            return None
        raise EditRefused("it was changed after codelens wrote it; delete it by hand")

    def is_there(self, text: str) -> bool:
        """See `Edit`."""
        return OWN_FILE in text

    def is_changed(self, text: str, written: Sequence[Edit]) -> bool:
        """See `Edit`."""
        texts_of_codelens = {self.text, *(edit.text for edit in written if isinstance(edit, Whole))}
        return OWN_FILE in text and text not in texts_of_codelens


def _merged(old: Value, new: Value) -> Value:
    """`old` merged with `new`: objects key by key, lists as a union."""
    if isinstance(old, dict) and isinstance(new, dict):
        merged = {key: _merged(old[key], value) for key, value in new.items() if key in old}
        return {**old, **new, **merged}
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *(value for value in new if value not in old)]
    return new


def snippet(entry: Entry) -> str:
    """The entry as a separate file, to paste by hand."""
    chosen = format_of(entry.format)
    value = _merged({**entry.launch, **entry.extras}, entry.approvals)
    text = chosen.put("", entry.keys, value)
    assert has(chosen.parse(text, entry.keys), entry.keys), nested(entry.keys, value)
    return text
