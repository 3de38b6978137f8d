"""A change of the resolver's rules must raise the version, or old edges would stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules_digest import digest_of

from codelens import resolve
from codelens.resolve.resolver_version import PACKING_DIGEST, RESOLVER_VERSION, RULES_DIGEST

FOLDER = Path(next(iter(resolve.__path__)))


def digest() -> str:
    files = FOLDER.rglob("*.py")
    return digest_of(FOLDER, (one for one in files if one.name != "resolver_version.py"))


@pytest.mark.slow
def test_changed_rules_raise_the_version() -> None:
    assert digest() == RULES_DIGEST, (
        f"the rules of resolving changed: if edges can come out otherwise, or what a row stands "
        f"on, raise RESOLVER_VERSION (now {RESOLVER_VERSION}); then set "
        f"RULES_DIGEST = {digest()!r} in codelens/resolve/resolver_version.py"
    )


def packing() -> str:
    return digest_of(FOLDER.parent, [FOLDER.parent / "store/facts/resolution_facts.py"])


def test_changed_packing_raises_the_version_of_facts() -> None:
    assert packing() == PACKING_DIGEST, (
        f"store/facts/resolution_facts.py changed: if facts are packed otherwise, or the surface "
        f"has another digest, "
        f"raise CORE_VERSION and EXTRACTOR_VERSION in codelens/extract/extractor_version.py; then "
        f"set "
        f"PACKING_DIGEST = {packing()!r} in codelens/resolve/resolver_version.py"
    )
