"""The corpus of texts that crashed, hung or slowed an extraction: none does so again."""

from __future__ import annotations

import subprocess
import sys

import pytest
from corpus.texts import TEXTS
from extract.rendering import fixture_sources

from codelens.extract.facts import facts_of
from codelens.extract.language_settings import languages


def fixture_of(language: str) -> bytes:
    return next(
        (one.read_bytes() for one in fixture_sources() if one.parent.name == language), b"a\n"
    )


CODE = (
    "import resource, sys; resource.setrlimit(resource.RLIMIT_CPU, (15, 15));"
    "from codelens.extract.facts import facts_of;"
    "print(facts_of(sys.stdin.buffer.read(), sys.argv[1]).outcome)"
)


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_that_killed_is_survived(name: str) -> None:
    language, text = TEXTS[name]
    ran = subprocess.run(
        [sys.executable, "-c", CODE, language], input=text, capture_output=True, timeout=200
    )
    assert ran.returncode == 0, ran.stderr.decode()
    assert ran.stdout.strip() in {b"parsed", b"timeout"}


@pytest.mark.parametrize("language", sorted(info.name for info in languages()))
def test_no_scanner_meets_a_nul(language: str) -> None:
    # After the first bytes, which decide whether a file is binary.
    head, source = b"\n" * 8000, fixture_of(language)
    with_nuls = source.replace(b"\n", b"\0\n")
    facts = facts_of(head + with_nuls, language)
    blank = facts_of(head + with_nuls.replace(b"\0", b" "), language)
    assert facts.outcome == blank.outcome
    assert facts.structure.symbols == blank.structure.symbols
    assert facts.structure.references == blank.structure.references
