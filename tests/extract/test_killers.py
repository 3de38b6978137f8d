"""Texts that crashed or hung a grammar's own scanner: each is kept from it, for good."""

from __future__ import annotations

import subprocess
import sys

import pytest
from extract.rendering import fixture_sources

from codelens.extract.facts import facts_of
from codelens.extract.language_settings import languages

KILLERS = {
    "perl: a word before a comment that ends the text": ("perl", b"e#"),
    "perl: open quotes": ("perl", (b'"${' * 20 + b"\n") * 500),
    "perl: open code in quotes": ("perl", (b'"@{[' * 20 + b"\n") * 15),
    "perl: a NUL behind an angle": ("perl", b"a b\n" * 2000 + b"<\0" * 2000),
    "perl: NULs in tags": ("perl", b"a b\n" * 2000 + b"<script>\0</script>\n" * 500),
    "kotlin: open templates": ("kotlin", (b'"${' * 20 + b"\n") * 100),
    "svelte: a brace that is never closed, before many lines": (
        "svelte",
        b"a b\n" * 2000 + b"{\n" + b"a\n" * 60_000,
    ),
    "svelte: an attribute that is never closed, with NULs": (
        "svelte",
        b"a b\n" * 2000 + b"<a b={\n" + b"a\0\n" * 40_000,
    ),
    "yaml: open sequences": ("yaml", (b"- " * 300 + b"a\n") * 5),
    "markdown: open quotes": ("markdown", (b"> " * 300 + b"a\n") * 5),
}


def fixture_of(language: str) -> bytes:
    return next(
        (one.read_bytes() for one in fixture_sources() if one.parent.name == language), b"a\n"
    )


CODE = (
    "import sys; from codelens.extract.facts import facts_of;"
    "print(facts_of(sys.stdin.buffer.read(), sys.argv[1]).outcome)"
)


@pytest.mark.parametrize("name", KILLERS)
def test_a_text_that_killed_is_survived(name: str) -> None:
    language, text = KILLERS[name]
    ran = subprocess.run(
        [sys.executable, "-c", CODE, language], input=text, capture_output=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr.decode()
    assert ran.stdout.strip() in {b"parsed", b"timeout"}


@pytest.mark.parametrize("language", sorted(info.name for info in languages()))
def test_no_scanner_meets_a_nul(language: str) -> None:
    # Beyond the first bytes, which tell whether a file is binary.
    head, source = b"\n" * 8000, fixture_of(language)
    with_nuls = source.replace(b"\n", b"\0\n")
    facts = facts_of(head + with_nuls, language)
    blank = facts_of(head + with_nuls.replace(b"\0", b" "), language)
    assert facts.outcome == blank.outcome
    assert facts.structure.symbols == blank.structure.symbols
    assert facts.structure.references == blank.structure.references
