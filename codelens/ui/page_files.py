"""The files of the page, as they ship with codelens; no other file is ever served."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "page"
START = "index.html"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class PageFile(NamedTuple):
    """A file of the page."""

    data: bytes
    media_type: str


@cache
def page_files() -> Mapping[str, PageFile]:
    """The files by name, read once: a path of a request is looked up here and never opened."""
    return {
        file.name: PageFile(file.read_bytes(), _TYPES[file.suffix])
        for file in sorted(FOLDER.iterdir())
        if file.suffix in _TYPES
    }
