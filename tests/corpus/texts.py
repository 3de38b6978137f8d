"""Every text that ever crashed, hung or slowed an extraction. Entries are added, never removed."""

from __future__ import annotations

_HEAD = b"a b\n" * 2000
"""Longer than the prefix that decides whether a file is binary."""


def _full(pattern: bytes, size: int = 256_000) -> bytes:
    """Lines of 80 bytes of a pattern, truncated, as `extract/growth.py` builds them."""
    line = pattern if b"\n" in pattern else pattern * max(1, 80 // len(pattern)) + b"\n"
    return (line * (size // len(line) + 1))[:size]


TEXTS: dict[str, tuple[str, bytes]] = {
    "perl: a word before a comment that ends the text": ("perl", b"e#"),
    "perl: open quotes": ("perl", (b'"${' * 20 + b"\n") * 500),
    "perl: open code in quotes": ("perl", (b'"@{[' * 20 + b"\n") * 15),
    "perl: a NUL behind an angle": ("perl", _HEAD + b"<\0" * 2000),
    "perl: NULs in tags": ("perl", _HEAD + b"<script>\0</script>\n" * 500),
    "kotlin: open templates": ("kotlin", (b'"${' * 20 + b"\n") * 100),
    "svelte: a brace that is never closed, before many lines": (
        "svelte",
        _HEAD + b"{\n" + b"a\n" * 60_000,
    ),
    "svelte: an attribute that is never closed, with NULs": (
        "svelte",
        _HEAD + b"<a b={\n" + b"a\0\n" * 40_000,
    ),
    "yaml: open sequences": ("yaml", (b"- " * 300 + b"a\n") * 5),
    "markdown: open quotes": ("markdown", (b"> " * 300 + b"a\n") * 5),
    "c: openings that are half comments, whose parser was freed by 87,000 nested calls": (
        "c",
        _full(b"{-"),
    ),
    "cmake: separators, and half a character at the end": (
        "cmake",
        _full("\u2028".encode() * 26),
    ),
    "c: functions in functions, looked for a type back to the line's start": (
        "c",
        _full(b"fn a() {"),
    ),
    "cpp: the same": ("cpp", _full(b"int a(){")),
    "csharp: classes in classes, parsed five times": ("csharp", _full(b"class A:\n")),
    "ocaml: separators, over which the lexer goes back and forth within one step": (
        "ocaml",
        _full("\u2028".encode() * 26),
    ),
    "scala: definitions without an end, parsed five times": ("scala", _full(b"def a\n")),
}
