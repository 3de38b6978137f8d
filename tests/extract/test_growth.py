"""CPU time stays in proportion to text size: a share of `extract/growth.py`."""

from __future__ import annotations

import pytest
from extract import growth
from harness_sizes import size_of

from codelens.extract.facts import facts_of
from codelens.extract.language_settings import languages

SHARE = size_of("CODELENS_GROWTH_SHARE")


@pytest.mark.slow
@pytest.mark.parametrize("language", sorted(info.name for info in languages() if info.grammar))
def test_time_grows_no_faster_than_the_text(language: str) -> None:
    with growth.Measured(language) as child:
        assert list(growth.faults(language, child, share=SHARE)) == []
        assert child.tried, "nothing was tried"


def test_a_truncated_character_is_not_a_character() -> None:
    for end in (b"\xe2", b"\xe2\x80", b"\xf0\x9f\x98", b"\xe2a", b"\x80\n"):
        text = "def lamp(): pass  # \u00e9 ".encode() + end
        (symbol,) = facts_of(text, "python").structure.symbols
        assert symbol.name == "lamp"
    for tail in ("\u706f\u5854", "\u706fa", "\u706fab", "\U0001f600"):
        text = f"def lamp(): pass  # {tail}".encode()
        chunk = facts_of(text, "python").structure.chunks[-1]
        assert chunk.end_byte == len(text)
