"""A few lines of ours in a file of prose, between two markers."""

from __future__ import annotations

import re

from codelens.hosts.formats.config_values import EditRefused

BEGIN = "<!-- codelens:begin -->"
END = "<!-- codelens:end -->"
# On lines of their own: prose may speak of the markers.
_BEGINS = re.compile(rf"^{re.escape(BEGIN)}(?=[ \t]*\r?$)", re.MULTILINE)
_ENDS = re.compile(rf"^{re.escape(END)}(?=[ \t]*\r?$)", re.MULTILINE)
_BLOCK = re.compile(rf"{_BEGINS.pattern}.*?{_ENDS.pattern}", re.DOTALL | re.MULTILINE)


def put(text: str, lines: str) -> str:
    """The text with `lines` between the markers; appended after a blank line if there are none.

    Raises:
        EditRefused: the markers are not one pair.
    """
    eol = "\r\n" if "\r\n" in text else "\n"
    block = eol.join((BEGIN, *lines_of(lines), END))
    if _is_there(text):
        return _BLOCK.sub(lambda _: block, text)
    if not text:
        return block + eol
    gap = "" if text.endswith(("\n\n", "\r\n\r\n")) else eol
    return text + ("" if text.endswith("\n") else eol) + gap + block + eol


def take(text: str) -> str:
    """The text without the block and the blank line before it; unchanged where there is none.

    Raises:
        EditRefused: the markers are not one pair.
    """
    if not _is_there(text):
        return text
    match = _BLOCK.search(text)
    assert match is not None, "one pair of markers was counted"
    before, after = text[: match.start()], text[match.end() :]
    for eol in ("\r\n", "\n"):
        if after.startswith(eol):
            after = after.removeprefix(eol)
            if before.endswith(eol * 2) and (not after or after.startswith(eol)):
                before = before.removesuffix(eol)
            break
    return before + after


def is_there(text: str) -> bool:
    """Whether there is one whole block."""
    try:
        return _is_there(text)
    except EditRefused:
        return False


def inside(text: str) -> list[str] | None:
    """The lines between the markers; None where there is not one whole block."""
    match = _BLOCK.search(text) if is_there(text) else None
    return None if match is None else lines_of(match.group()[len(BEGIN) : -len(END)])


def lines_of(text: str) -> list[str]:
    """The lines of a block, however it is laid out."""
    return text.strip().splitlines()


def _is_there(text: str) -> bool:
    begins = [match.start() for match in _BEGINS.finditer(text)]
    ends = [match.start() for match in _ENDS.finditer(text)]
    if not begins and not ends:
        return False
    if len(begins) == len(ends) == 1 and begins < ends:
        return True
    order = ", with the end before the beginning" if len(begins) == len(ends) == 1 else ""
    raise EditRefused(
        f"it has {len(begins)} `{BEGIN}` and {len(ends)} `{END}`{order}, but exactly one pair is "
        "expected; remove the extra ones by hand"
    )
