"""The same text gives exactly the same facts, in any process and any order.

py-tree-sitter 0.26 returns captures in varying order if patterns overlap; the oracle found it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from codelens.extract.facts import facts_of
from codelens.extract.language_detection import language_of

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
OWN = Path(__file__).resolve().parent.parent.parent / "codelens"


@pytest.mark.slow
def test_facts_do_not_depend_on_earlier_extractions() -> None:
    files = [file for file in FIXTURES.rglob("*") if file.is_file() and file.suffix != ".json"]
    files += sorted(OWN.rglob("*.py"))[:60]
    texts = [(file.read_bytes(), language_of(file.name.encode(), b"")) for file in files]
    first = [facts_of(*one) for one in texts]
    for _ in range(3):
        assert [facts_of(*one) for one in reversed(texts)][::-1] == first
