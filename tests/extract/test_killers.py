"""Texts that crashed or hung a grammar's own scanner: each is kept from it, for good."""

from __future__ import annotations

import subprocess
import sys

import pytest

KILLERS = {
    "perl: a word before a comment that ends the text": ("perl", b"e#"),
    "perl: open quotes": ("perl", (b'"${' * 20 + b"\n") * 500),
    "perl: open code in quotes": ("perl", (b'"@{[' * 20 + b"\n") * 15),
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
