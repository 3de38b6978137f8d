"""A change of the rules of extraction raises the version, or old facts would stay."""

from __future__ import annotations

import hashlib
from pathlib import Path

from codelens import extract
from codelens.extract.version import EXTRACTOR_VERSION, RULES_DIGEST

FOLDER = Path(next(iter(extract.__path__)))
RULES = {".py", ".scm", ".toml"}


def digest() -> str:
    found = hashlib.blake2b(digest_size=8)
    for file in sorted(FOLDER.rglob("*")):
        if file.suffix in RULES and file.name != "version.py":
            found.update(file.relative_to(FOLDER).as_posix().encode() + b"\0")
            found.update(file.read_bytes() + b"\0")
    return found.hexdigest()


def test_changed_rules_raise_the_version() -> None:
    assert digest() == RULES_DIGEST, (
        f"the rules of extraction changed: if facts can come out otherwise, raise "
        f"EXTRACTOR_VERSION (now {EXTRACTOR_VERSION}), and CORE_VERSION or the `version` of the "
        f"languages concerned; then set RULES_DIGEST = {digest()!r} in codelens/extract/version.py"
    )
