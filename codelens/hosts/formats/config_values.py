"""Values of configuration files, in any format."""

from __future__ import annotations

from typing import TypeAlias

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"
Keys: TypeAlias = tuple[str, ...]


class EditRefused(Exception):
    """A text cannot be edited safely; the message says why, without naming the file.

    Only for this package: code that reads and writes files turns it into a `HostError`.
    """


def nested(keys: Keys, value: Value) -> Value:
    """`value` inside one object for each key."""
    for key in reversed(keys):
        value = {key: value}
    return value


def at(value: Value, keys: Keys) -> Value:
    """The value at `keys`; None if there is no such value."""
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value


def has(value: Value, keys: Keys) -> bool:
    """Whether there is a value at `keys`."""
    holder = at(value, keys[:-1])
    return isinstance(holder, dict) and keys[-1] in holder


def with_value(value: Value, keys: Keys, fresh: Value) -> Value:
    """A copy with `fresh` at `keys`."""
    if not keys:
        return fresh
    holder = dict(value) if isinstance(value, dict) else {}
    holder[keys[0]] = with_value(holder.get(keys[0]), keys[1:], fresh)
    return holder


def without(value: Value, keys: Keys) -> Value:
    """A copy without the value at `keys`; parents stay."""
    if not isinstance(value, dict) or keys[0] not in value:
        return value
    rest = {key: item for key, item in value.items() if key != keys[0]}
    if len(keys) == 1:
        return rest
    return {key: without(item, keys[1:]) if key == keys[0] else item for key, item in value.items()}
