"""What can be wrong with a pack."""

from __future__ import annotations

from codelens.errors import StoreError


class UnusablePack(StoreError):
    """A pack is damaged, malformed, or of another version; nothing of it is believed any further.

    Args:
        file: as it was named.
        why: what is wrong.
        remedy: what to do.
    """

    def __init__(self, file: str, why: str, remedy: str = "") -> None:
        self.file = file
        self.why = why
        super().__init__(
            f"the pack {file!r} cannot be used: {why}; "
            f"{remedy or 'make or fetch it again, or go on without it: files are indexed here'}"
        )


class MalformedRecord(Exception):
    """Facts in a pack that no extraction gives; its text says what is wrong with them."""
