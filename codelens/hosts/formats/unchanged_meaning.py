"""What holds of every edit: all that is not ours means what it did, and empty parents go again."""

from __future__ import annotations

from collections.abc import Sequence

from codelens.hosts.formats.config_formats import format_of
from codelens.hosts.formats.config_values import EditRefused, Keys, Value, at, has, without


def checked(style: str, before: str, after: str, keys: Keys) -> str:
    """`after`, whose meaning differs from that of `before` at `keys` alone."""
    parse = format_of(style).parse
    left, right = (emptied(without(parse(text, keys), keys), keys) for text in (before, after))
    if left != right:
        raise EditRefused("the change would alter other parts of the file")
    return after


def emptied(value: Value, keys: Keys) -> Value:
    """`value` without those parents of `keys` that are empty: they come and go with the entry."""
    for depth in range(len(keys) - 1, 0, -1):
        if not at(value, keys[:depth]):
            value = without(value, keys[:depth])
    return value


def missing_parents(style: str, text: str | None, keys: Keys) -> list[Keys]:
    """The parents of `keys` that a text has not, outermost first."""
    now = format_of(style).parse(text or "", keys)
    return [keys[:depth] for depth in range(1, len(keys)) if not has(now, keys[:depth])]


def pruned(style: str, text: str, created_keys: Sequence[Keys]) -> str:
    """The text without those parents in `created_keys` that hold nothing."""
    chosen = format_of(style)
    for keys in sorted(created_keys, key=len, reverse=True):
        now = chosen.parse(text, keys)
        if has(now, keys) and not at(now, keys) and chosen.bare(text, keys):
            text = chosen.take(text, keys)
    return text
