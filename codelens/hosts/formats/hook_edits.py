"""Hooks in a host's settings: one element of ours in the list of each event, beside others'.

An element is ours when it runs `codelens hook`, with whatever path and options.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from codelens.hosts.formats.config_formats import format_of
from codelens.hosts.formats.config_values import EditRefused, Keys, Value, at, has, with_value
from codelens.hosts.formats.unchanged_meaning import missing_parents, pruned

_OURS = re.compile(r"""(?:^|[\s/\\"'])codelens(?:\.exe)?["']?\s+hook\s+[a-z-]+""")


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
            _is_ours(element) for event in self._events_there(text)
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
        now = at(format_of(self.format).parse(text, self.keys), (*self.keys, event))
        ours = [value for value in now if _is_ours(value)] if isinstance(now, list) else []
        take_items = format_of(self.format).take_items
        assert take_items is not None, f"{self.format} does not support lists"
        return take_items(text, (*self.keys, event), ours)

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
            others = [element for element in elements if not _is_ours(element)]
            if others:
                foreign[event] = cast("Value", others)
        rest = {key: element for key, element in cast("dict[str, Value]", value).items()
                if key not in self.base}  # fmt: skip
        return with_value(rest, self.keys, foreign)


def _is_ours(element: Value) -> bool:
    """Whether an element, however nested, runs `codelens hook`."""
    left: list[Value] = [element]
    while left:
        value = left.pop()
        if isinstance(value, str) and _OURS.search(value):
            return True
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
    return False
