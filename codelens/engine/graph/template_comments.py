"""The parts of templates and of code that their frameworks do not run, such as comments."""

from __future__ import annotations

import re


class Comments:
    """The parts of a text that its framework does not run, by how they begin and end."""

    def __init__(self, *parts: tuple[bytes, bytes]) -> None:
        self._begin = re.compile(b"|".join(b"(%s)" % begin for begin, _ in parts), re.MULTILINE)
        self._ends = [end for _, end in parts]

    def blanked(self, text: bytes) -> bytes:
        """Return the text with blanks in place of these parts, in linear time."""
        pieces: list[bytes] = []
        unended = set[bytes]()
        at = start = 0
        while (match := self._begin.search(text, at)) is not None:
            end = self._ends[(match.lastindex or 1) - 1]
            stop = -1 if end in unended else text.find(end, match.end())
            if stop < 0:
                unended.add(end)
                at = match.end()
                continue
            pieces += [text[start : match.start()], _blank(text[match.start() : stop])]
            at, start = stop + len(end), stop
        return b"".join((*pieces, text[start:]))


def _blank(text: bytes) -> bytes:
    return re.sub(rb"[^\n]", b" ", text)


TAG_COMMENT = Comments(
    (rb"\{#", b"#}"),
    (rb"\{%-?\s*comment\b", b"endcomment"),
    (rb"\{%-?\s*verbatim\b", b"endverbatim"),
    (rb"\{%-?\s*raw\b", b"endraw"),
)
BLADE_COMMENT = Comments((rb"\{\{--", b"--}}"), (rb"@verbatim\b", b"@endverbatim"))
HASH_COMMENT = Comments((rb"^[ \t]*#", b"\n"))
PYTHON_COMMENT = Comments((rb'"""', b'"""'), (rb"'''", b"'''"), (rb"^[ \t]*#", b"\n"))
SLASH_COMMENT = Comments((rb"/\*", b"*/"), (rb"^[ \t]*(?://|#(?!\[))", b"\n"))
ERB_COMMENT = Comments((rb"<%\s*#", b"%>"))
CURLY_COMMENT = Comments((rb"\{\{!--", b"--}}"))
