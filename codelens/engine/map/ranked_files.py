"""What of a map does not hang on focus and budget."""

from __future__ import annotations

from typing import NamedTuple

from codelens.rank.links.file_links import Links, Source
from codelens.store.facts.contents import Content


class Ranked(NamedTuple):
    """What of the map does not hang on focus and budget; kept with the state of the view."""

    sources: list[Source]
    roles: dict[bytes, str]
    links: Links
    about: dict[int, Content]
    bodies: dict[int, int]
    """Content -> how many functions and types it defines."""
    left_out: int
    unread: int = 0
    """Files of which it is not known yet what they define."""
    unlinked: int = 0
    """Files among the sources of which it is not known yet what they use."""
