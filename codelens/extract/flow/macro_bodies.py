"""Finds the names in the bodies of macros, which a grammar leaves as text: `#define CALL(x) f(x)`.

A body may be any tokens, so a name before `(` is a call and any other name a use. Not counted are
parameters, what `#` and `##` make a text or join, and members, whose owner is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from codelens.extract.flow.named_uses import NamedUse
from codelens.extract.language_settings import LanguageInfo
from codelens.extract.parse.captures import Captures
from codelens.extract.source_text import Source

_TOKEN = re.compile(
    rb"//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|$)|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
    rb"|(?P<before>(?:->|\.|\#)\s*)?(?P<path>(?:::)?(?:[A-Za-z_]\w*::)*)(?P<name>[A-Za-z_]\w*)"
    rb"(?=(?P<after>[ \t]*(?:\#\#|\())?)|[0-9][\w.']*|\#\#\s*\w+",
    re.DOTALL,
)
_LONGEST = 10_000
"""Longer bodies are tables of data."""


def macro_uses(captures: Captures, info: LanguageInfo, source: Source) -> Iterator[NamedUse]:
    """Yields the uses in the macro bodies of a text."""
    for node in captures.get("reference.macro", ()):
        if node.end_byte - node.start_byte > _LONGEST:
            continue
        left_out = info.keywords | _parameters(node, source)
        text = source.text[node.start_byte : node.end_byte]
        for token in _TOKEN.finditer(text):
            name, after = token["name"], token["after"] or b""
            if name is None or token["before"] or after.endswith(b"##"):
                continue
            word = name.decode("utf-8", "replace")
            if word in left_out:
                continue
            receiver = token["path"].strip(b":").replace(b"::", b".").decode("utf-8", "replace")
            kind = "call" if after.endswith(b"(") else "name"
            yield NamedUse(node.start_byte + token.start("name"), word, kind, receiver)


def _parameters(body: Node, source: Source) -> set[str]:
    macro = body.parent
    listed = macro.child_by_field_name("parameters") if macro is not None else None
    nodes = listed.named_children if listed is not None else []
    return {source.slice(node.start_byte, node.end_byte) for node in nodes}
