"""A change of the rules of resolving raises the version, or old edges would stay."""

from __future__ import annotations

import hashlib
from pathlib import Path

from codelens import resolve
from codelens.resolve.version import PACKING_DIGEST, RESOLVER_VERSION, RULES_DIGEST

FOLDER = Path(next(iter(resolve.__path__)))


def digest() -> str:
    found = hashlib.blake2b(digest_size=8)
    for file in sorted(FOLDER.glob("*.py")):
        if file.name != "version.py":
            found.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()


def test_changed_rules_raise_the_version() -> None:
    assert digest() == RULES_DIGEST, (
        f"the rules of resolving changed: if edges can come out otherwise, or what a row stands "
        f"on, raise RESOLVER_VERSION (now {RESOLVER_VERSION}); then set "
        f"RULES_DIGEST = {digest()!r} in codelens/resolve/version.py"
    )


def packing() -> str:
    file = FOLDER.parent / "store" / "flow.py"
    return hashlib.blake2b(file.read_bytes(), digest_size=8).hexdigest()


def test_changed_packing_raises_the_version_of_facts() -> None:
    assert packing() == PACKING_DIGEST, (
        f"store/flow.py changed: if facts are packed otherwise, or the surface has another digest, "
        f"raise CORE_VERSION and EXTRACTOR_VERSION in codelens/extract/version.py; then set "
        f"PACKING_DIGEST = {packing()!r} in codelens/resolve/version.py"
    )
