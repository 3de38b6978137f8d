"""Forms: definitions written as calls or lists, told from others by their first word.

In Elixir, Clojure, R or Ruby's class bodies a definition is a call like any other: `def f(x)`,
`(defn f [x])`, `attr_accessor :a`. The query captures all such nodes as `@form` and their words
as `@form.keyword`; the settings say which words define what.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tree_sitter import Node

from codelens.extract.captures import Captures
from codelens.extract.languages import LanguageInfo, form_capture


def with_forms(captures: Captures, info: LanguageInfo, text: bytes) -> Captures:
    """The captures, each form among those that its keyword stands for.

    The keyword of a form is the first one that begins in it.
    """
    forms = captures.get("form")
    keywords = captures.get("form.keyword")
    if not forms or not keywords:
        return captures
    words = sorted((node.start_byte, node.end_byte) for node in keywords)
    told: Captures = {}
    at = 0
    for form in sorted(forms, key=_start):
        while at < len(words) and words[at][0] < form.start_byte:
            at += 1
        if at < len(words) and words[at][0] < form.end_byte:
            for capture in _meanings(info.forms, text[words[at][0] : words[at][1]]):
                told.setdefault(capture, []).append(form)
    return captures | {name: [*captures.get(name, ()), *nodes] for name, nodes in told.items()}


def _start(node: Node) -> int:
    return node.start_byte


@lru_cache(maxsize=10_000)
def _meanings(forms: tuple[tuple[str, str], ...], word: bytes) -> tuple[str, ...]:
    text = word.decode("utf-8", "replace")
    return tuple(form_capture(role) for role, regex in forms if re.fullmatch(regex, text))
