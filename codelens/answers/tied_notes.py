"""What an answer says of the saved contexts on the code that it shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TiedNote:
    """A saved context that is about code which an answer shows."""

    name: str
    category: str
    status: str
    """`current`: that code is as it was when it was saved, if elsewhere; or `changed`."""
    note: str
    """Its first line."""
    handles: tuple[str, ...]
    """Of what is shown, a few of those that it is about, as they are to be written now."""
    handle_count: int = 0
    """How many it is about."""
