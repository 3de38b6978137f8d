"""What is read of each language, told from the captures its queries use; loads no grammar."""

from __future__ import annotations

import re
from typing import Literal, get_args

from codelens.extract.language_settings import FOLDER, LanguageInfo

Gift = Literal["definitions", "headings", "references", "imports", "docs", "embedded"]

_CAPTURE = re.compile(r"@([a-z]+)")
_COMMENT = re.compile(r"^\s*;.*$", re.MULTILINE)
_BY_CAPTURE: dict[str, Gift] = {
    "definition": "definitions",
    "form": "definitions",
    "section": "headings",
    "reference": "references",
    "import": "imports",
    "comment": "docs",
    "docstring": "docs",
    "doc": "docs",
    "embedded": "embedded",
}


def given_by(info: LanguageInfo) -> tuple[Gift, ...]:
    """Which facts a language's files give beside chunks and words; none for plain text.

    `docs` are the comments or strings that document definitions, `embedded` the definitions of
    parts in other languages.
    """
    gifts: set[Gift] = set()
    for stem in info.queries:
        query = _COMMENT.sub("", (FOLDER / f"{stem}.scm").read_text(encoding="utf-8"))
        gifts.update(_BY_CAPTURE[head] for head in _CAPTURE.findall(query) if head in _BY_CAPTURE)
    if info.sections != "heading":
        gifts.discard("headings")
    if "definitions" not in gifts:
        gifts.discard("docs")
    return tuple(get_arg for get_arg in get_args(Gift) if get_arg in gifts)
