"""A parse releases what it read: servers and workers parse forever."""

from __future__ import annotations

import sys

from codelens.extract.parse.captures import parse
from codelens.extract.parse.grammars import grammar


def test_a_text_is_given_back_after_its_parse() -> None:
    python, text = grammar("python"), b"lamp = 1\n" * 10_000
    parse(text, python)
    before = sys.getallocatedblocks()
    for _ in range(10):
        parse(text, python)
    # It is read in 88 pieces.
    assert sys.getallocatedblocks() - before < 88
