"""Names of definitions without their convention: what look-ups by name go by."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codelens.store.database.database import Database

_DEFINING = "SELECT DISTINCT content FROM symbol_keys WHERE key = ?"


def key_of(name: str) -> str:
    """What stays of an identifier without its convention; as `tokens.identifier_key`."""
    if name.isascii() and (bare := name.replace("_", "")).isalnum():
        return bare.lower()
    key = "".join(char for char in name.casefold() if char.isalnum())
    # Bytes that are no UTF-8, as a handle can hold them, are in no name.
    return key or name.encode("utf-8", "replace").decode()


def contents_defining(db: Database, name: str) -> list[int]:
    """Contents of the store, of any view, that define the name in some convention."""
    return [content for (content,) in db.rows(_DEFINING, (key_of(name),))]
