"""Edits hooks in a host's settings: codelens has one element in the list of each event.

A command belongs to codelens if it consists of `codelens hook EVENT`, with any path and options,
and with `|| true` if the host treats a failure as a refusal. A command that only mentions it, or
runs something else too, belongs to the user. From an element with commands of both, only those of
codelens are removed.
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
from codelens.hosts.formats.entry_edits import Edit

_OURS = re.compile(r"(?:.*[/\\])?codelens(?:\.exe)?")
_OPERATORS = frozenset(";&|<>()")
_NEVER_FAILS = ["||", "true"]


@dataclass(frozen=True, slots=True)
class Hooks(Edit):
    """The hooks with which a host calls codelens.

    Attributes:
        format: a format of `format_of`.
        keys: the path of the events.
        base: other keys that the file must have, such as its version.
        events: the element for each event.
    """

    format: str
    keys: Keys
    base: Mapping[str, Value]
    events: Mapping[str, Value]

    @property
    def what(self) -> str:
        """See `Edit`."""
        return "hooks"

    def put(self, text: str | None) -> str:
        """See `Edit`; an element of another version is replaced."""
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
            _runs_hook(element) for event in self._events_there(text)
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
        hooks_there = [value for value in now if _runs_hook(value)] if isinstance(now, list) else []
        assert style.take_items is not None, f"{self.format} does not support lists"
        assert style.append is not None, f"{self.format} does not support lists"
        rests = [_without_hook(value) for value in hooks_there if not _only_runs_hook(value)]
        fresh = style.take_items(text, keys, hooks_there)
        return style.append(fresh, keys, rests) if rests else fresh

    def _check(self, before: Value, fresh: str) -> None:
        """Check that only our elements, and lists with nothing else, have changed."""
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
            others = [
                _without_hook(element) for element in elements if not _only_runs_hook(element)
            ]
            if others:
                # What is left of an element moves to the end of the list.
                foreign[event] = cast("Value", sorted(others, key=json.dumps))
        rest = {key: element for key, element in cast("dict[str, Value]", value).items()
                if key not in self.base}  # fmt: skip
        return with_value(rest, self.keys, foreign)


def _only_runs_hook(element: Value) -> bool:
    """Whether an element runs `codelens hook` and nothing else."""
    return _runs_hook(element) and not any(
        isinstance(item, dict) and not _runs_hook(item)
        for value in (element.values() if isinstance(element, dict) else ())
        if isinstance(value, list)
        for item in value
    )


def _without_hook(element: Value) -> Value:
    """An element without our commands."""
    if not isinstance(element, dict):
        return element
    return {
        key: [item for item in value if not _runs_hook(item)] if isinstance(value, list) else value
        for key, value in element.items()
    }


def _is_hook_command(text: str) -> bool:
    """Whether a command line is `codelens hook EVENT` and nothing else."""
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
        # Unquoted, these characters start another command or redirect to a file.
        and not any(word and _OPERATORS.issuperset(word) for word in words[2:])
    )


def _runs_hook(element: Value) -> bool:
    """Whether an element, at any depth, runs `codelens hook`."""
    left: list[Value] = [element]
    while left:
        value = left.pop()
        if isinstance(value, str) and _is_hook_command(value):
            return True
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
    return False
