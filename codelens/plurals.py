"""Counts with their nouns, as messages and answers print them."""

from __future__ import annotations


def count_of(count: int, noun: str) -> str:
    """`1 file`, `1,234 files`."""
    return f"{count:,} {plural(noun, count)}"


def plural(noun: str, count: int) -> str:
    """`file` for one, else `files`."""
    return noun if count == 1 else f"{noun}s"
