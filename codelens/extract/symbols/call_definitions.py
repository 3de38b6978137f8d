"""Forms: definitions written as calls or lists, told from others by their first word.

In Elixir, Clojure, R or Ruby's class bodies a definition is a call like any other: `def f(x)`,
`(defn f [x])`, `attr_accessor :a`. The query captures all such nodes as `@form` and their words
as `@form.keyword`; the settings say which words define what.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node

from codelens.extract.language_settings import LanguageInfo, form_capture
from codelens.extract.parse.captures import Captures


def with_forms(captures: Captures, info: LanguageInfo, text: bytes) -> Captures:
    """The captures, each form among those that its keyword stands for.

    The keyword of a form is the first one that begins in it.
    """
    forms = captures.get("form")
    keywords = captures.get("form.keyword")
    if not forms or not keywords:
        return captures
    words = sorted((node.start_byte, node.end_byte) for node in keywords)
    form_captures: Captures = {}
    at = 0
    for form in sorted(forms, key=_start):
        while at < len(words) and words[at][0] < form.start_byte:
            at += 1
        if at < len(words) and words[at][0] < form.end_byte:
            for capture in _meanings(info.forms, text[words[at][0] : words[at][1]]):
                form_captures.setdefault(capture, []).append(form)
    for capture, part in _parts(forms, words, captures.get("form.part", []), info, text):
        form_captures.setdefault(capture, []).append(part)
    return captures | {
        name: [*captures.get(name, ()), *nodes] for name, nodes in form_captures.items()
    }


def _parts(
    forms: list[Node],
    words: list[tuple[int, int]],
    parts: list[Node],
    info: LanguageInfo,
    text: bytes,
) -> Iterator[tuple[str, Node]]:
    """Parts of forms, by the keyword of the innermost form around each: a protocol's methods."""
    if not parts:
        return
    starts = [start for start, _ in words]
    spans = sorted((node.start_byte, -node.end_byte) for node in forms)
    around: list[tuple[int, int]] = []
    at = 0
    for part in sorted(parts, key=_start):
        start, end = part.byte_range
        while at < len(spans) and spans[at][0] < start:
            around.append(spans[at])
            at += 1
        while around and -around[-1][1] < end:
            around.pop()
        if around:
            word = words[bisect_left(starts, around[-1][0])]
            for capture in _meanings(info.parts, text[word[0] : word[1]]):
                yield capture, part


def _start(node: Node) -> int:
    return node.start_byte


@lru_cache(maxsize=10_000)
def _meanings(forms: tuple[tuple[str, str], ...], word: bytes) -> tuple[str, ...]:
    text = word.decode("utf-8", "replace")
    return tuple(form_capture(role) for role, regex in forms if re.fullmatch(regex, text))
