"""Hooks in a host's settings: one element of ours in the list of each event, beside others'.

A command is ours when all of it is `codelens hook EVENT`, with whatever path and options, and with
`|| true` where a host takes a failure for a refusal. A command that only mentions it, or runs more
than it, is somebody's own. From an element that holds commands of both, ours are taken and the
others stay.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from codelens.hosts.formats.config_formats import format_of, missing_parents, pruned
from codelens.hosts.formats.config_values import EditRefused, Keys, Value, at, has, with_value

_OURS = re.compile(r"(?:.*[/\\])?codelens(?:\.exe)?")
_OPERATORS = frozenset(";&|<>()")
_NEVER_FAILS = ["||", "true"]


@dataclass(frozen=True, slots=True)
class Hooks:
    """An `Edit`; not derived from it, since `entry_edits` knows all kinds.

    Attributes:
        format: as `format_of` takes it.
        keys: where the events stand.
        base: keys that a file must have beside them, such as its version.
        events: the element for each event.
    """

    format: str
    keys: Keys
    base: Mapping[str, Value]
    events: Mapping[str, Value]

    @property
    def what(self) -> str:
        """What it is."""
        return "hooks"

    def put(self, text: str | None) -> str:
        """See `Edit`; an element that another version wrote is replaced."""
        style = format_of(self.format)
        fresh = text or ""
        before = style.parse(fresh, self.keys)
        for key, value in self.base.items():
            if not has(style.parse(fresh, self.keys), (key,)):
                fresh = style.put(fresh, (key,), value)
        for event, element in self.events.items():
            now = self._elements(fresh, event)
            if element in now:
                continue
            fresh = self._taken(fresh, event)
            assert style.append is not None, f"{self.format} does not support lists"
            fresh = style.append(fresh, (*self.keys, event), [element])
        self._check(before, fresh)
        return fresh

    def take(self, text: str, created_keys: Sequence[Keys]) -> str | None:
        """See `Edit`."""
        fresh = text
        before = format_of(self.format).parse(text, self.keys)
        for event in self._events_there(text):
            fresh = self._taken(fresh, event)
        self._check(before, fresh)
        return pruned(self.format, fresh, created_keys)

    def is_there(self, text: str) -> bool:
        """See `Edit`."""
        return any(
            _runs_ours(element) for event in self._events_there(text)
            for element in self._elements(text, event)
        )  # fmt: skip

    def parents(self, text: str | None) -> list[Keys]:
        """See `Edit`."""
        event_keys: list[Keys] = []
        for event in self.events:
            for keys in missing_parents(self.format, text, (*self.keys, event, "")):
                if keys not in event_keys:
                    event_keys.append(keys)
        return event_keys

    def lacking(self, text: str | None) -> Hooks:
        """See `Edit`."""
        return self

    def is_changed(self, text: str, written: Sequence[object]) -> bool:
        """See `Edit`."""
        return False

    def _events_there(self, text: str) -> list[str]:
        now = at(format_of(self.format).parse(text, self.keys), self.keys)
        return list(now) if isinstance(now, dict) else []

    def _elements(self, text: str, event: str) -> list[Value]:
        now = at(format_of(self.format).parse(text, self.keys), (*self.keys, event))
        if now is None:
            return []
        if not isinstance(now, list):
            raise EditRefused(f"{'.'.join((*self.keys, event))} is not a list")
        return now

    def _taken(self, text: str, event: str) -> str:
        style = format_of(self.format)
        keys = (*self.keys, event)
        now = at(style.parse(text, self.keys), keys)
        ours = [value for value in now if _runs_ours(value)] if isinstance(now, list) else []
        assert style.take_items is not None, f"{self.format} does not support lists"
        assert style.append is not None, f"{self.format} does not support lists"
        rests = [_without_ours(value) for value in ours if not _is_ours(value)]
        fresh = style.take_items(text, keys, ours)
        return style.append(fresh, keys, rests) if rests else fresh

    def _check(self, before: Value, fresh: str) -> None:
        """All but our elements, and lists that hold nothing else, must be as it was."""
        after = format_of(self.format).parse(fresh, self.keys)
        if self._foreign(before) != self._foreign(after):
            raise EditRefused("the change would alter other parts of the file")

    def _foreign(self, value: Value) -> Value:
        elements_now = at(value, self.keys)
        foreign: dict[str, Value] = {}
        for event, elements in elements_now.items() if isinstance(elements_now, dict) else ():
            if not isinstance(elements, list):
                foreign[event] = elements
                continue
            others = [_without_ours(element) for element in elements if not _is_ours(element)]
            if others:
                # What is left of an element comes to the end of the list.
                foreign[event] = cast("Value", sorted(others, key=json.dumps))
        rest = {key: element for key, element in cast("dict[str, Value]", value).items()
                if key not in self.base}  # fmt: skip
        return with_value(rest, self.keys, foreign)


def _is_ours(element: Value) -> bool:
    """Whether an element runs `codelens hook` and nothing else."""
    return _runs_ours(element) and not any(
        isinstance(item, dict) and not _runs_ours(item)
        for value in (element.values() if isinstance(element, dict) else ())
        if isinstance(value, list)
        for item in value
    )


def _without_ours(element: Value) -> Value:
    """An element without the commands in it that are ours."""
    if not isinstance(element, dict):
        return element
    return {
        key: [item for item in value if not _runs_ours(item)] if isinstance(value, list) else value
        for key, value in element.items()
    }


def _is_command_of_ours(text: str) -> bool:
    """Whether a command line is `codelens hook EVENT` and does no more."""
    line = shlex.shlex(text, posix=True, punctuation_chars=True)
    line.whitespace_split = True
    line.commenters = ""
    try:
        words = list(line)
    except ValueError:
        return False
    if words[-2:] == _NEVER_FAILS:
        del words[-2:]
    return (
        len(words) > 2
        and _OURS.fullmatch(words[0]) is not None
        and words[1] == "hook"
        # Unquoted they are words of their own, and lead to another command or file.
        and not any(word and _OPERATORS.issuperset(word) for word in words[2:])
    )


def _runs_ours(element: Value) -> bool:
    """Whether an element, however nested, runs `codelens hook`."""
    left: list[Value] = [element]
    while left:
        value = left.pop()
        if isinstance(value, str) and _is_command_of_ours(value):
            return True
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
    return False
