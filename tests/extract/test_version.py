"""A change of the extraction rules must raise the version, or old facts would stay."""

from __future__ import annotations

from pathlib import Path

from rules_digest import digest_of

from codelens import extract
from codelens.extract.extractor_version import EXTRACTOR_VERSION, RULES_DIGEST

FOLDER = Path(next(iter(extract.__path__)))
RULES = {".py", ".scm", ".toml"}


def digest() -> str:
    files = (one for one in FOLDER.rglob("*") if one.suffix in RULES)
    return digest_of(FOLDER, (one for one in files if one.name != "extractor_version.py"))


def test_changed_rules_raise_the_version() -> None:
    assert digest() == RULES_DIGEST, (
        f"the rules of extraction changed: if facts can come out otherwise, raise "
        f"EXTRACTOR_VERSION (now {EXTRACTOR_VERSION}), and CORE_VERSION or the `version` of the "
        f"languages concerned; then set RULES_DIGEST = {digest()!r} in "
        "codelens/extract/extractor_version.py"
    )
