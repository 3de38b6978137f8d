"""Objects written out, by their keys: `{a,b:c,...d}`."""

from __future__ import annotations

from functools import lru_cache

_SPREAD = "..."
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


@lru_cache(maxsize=5_000)
def parts(text: str) -> tuple[tuple[str, str], ...]:
    """Key and value of each part, the last first; a spread has no key, a bare key no value."""
    entries: list[tuple[str, str]] = []
    for part in _split(text[1:-1]):
        if part.startswith(_SPREAD):
            entries.append(("", part[len(_SPREAD) :]))
        else:
            key, _, value = part.partition(":")
            entries.append((key, value))
    return tuple(reversed(entries))


def _split(text: str) -> list[str]:
    """At the commas that are in no bracket and no type."""
    depth, start = 0, 0
    quoted = False
    texts: list[str] = []
    for at, sign in enumerate(text):
        quoted ^= sign == "`"
        if quoted:
            continue
        depth += (sign in _OPEN) - (sign in _CLOSE)
        if sign == "," and not depth:
            texts.append(text[start:at])
            start = at + 1
    return [*texts, text[start:]]
