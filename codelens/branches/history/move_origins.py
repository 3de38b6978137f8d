"""Where a definition that is new in its file may come from: by the words that a change removed.

Parsing and matching the files of a commit costs much more than reading them. What became a
definition was removed where it stood, or it would be a copy; and what is matched by likeness has
half of its words at least (`codelens.branches.definition_matcher`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from codelens.branches.file_definitions import Definition
from codelens.scope.text_diff import changed_lines

_WORD = re.compile(rb"\w+")
_LEAST_SHARE = 0.5
_LEAST_SHARE_OF_NAMED = 0.25
"""Of a file that is gone, and has the name: what it defined may have changed more on the way."""


def may_stem_from(old: bytes, new: bytes, definition: Definition) -> bool:
    """Whether something in an earlier version of a file can be what a definition was.

    Args:
        old: the earlier version.
        new: the version that has the definition.
        definition: as it stands in the new version; its line numbers may be of a part of it.
    """
    name = definition.name.encode("utf-8", "replace")
    head = definition.file.lines[definition.symbol.name_line - 1].strip()
    removed, added = _changed(old, new)
    if head not in added:
        return True  # its first line was there before
    words = Counter(_WORD.findall(b"\n".join(removed)))
    if name in words:
        return True
    own = definition.file.lines[definition.start : definition.stop]
    standing = [line for line in own if line.strip() not in added]
    words.update(_WORD.findall(b"\n".join(standing)))
    return _share(definition, words) >= _LEAST_SHARE


def share_removed(old: bytes, new: bytes | None, definition: Definition) -> float:
    """How much of a definition's words a change of another file removed; 0 if that is too little.

    Args:
        old: the other file before.
        new: the other file after; None if it is gone.
        definition: what may have stood in it.
    """
    name = definition.name.encode("utf-8", "replace")
    least = _LEAST_SHARE_OF_NAMED if new is None and name in old else _LEAST_SHARE
    present = sum(count for word, count in definition.words.items() if word in old)
    if present < least * definition.size:
        return 0.0
    removed = [old] if new is None else _changed(old, new)[0]
    share = _share(definition, Counter(_WORD.findall(b"\n".join(removed))))
    return share if share >= least else 0.0


def _share(definition: Definition, words: Counter[bytes]) -> float:
    return (definition.words & words).total() / max(definition.size, 1)


def _changed(old: bytes, new: bytes) -> tuple[list[bytes], set[bytes]]:
    """Lines that a change removed, and the lines that it added."""
    before, after = _lines(old), _lines(new)
    removed: list[bytes] = []
    added: set[bytes] = set()
    for hunk in changed_lines(old, new):
        removed += _part(before, hunk.old_start, hunk.old_lines)
        added.update(line.strip() for line in _part(after, hunk.new_start, hunk.new_lines))
    return removed, added


def _part(lines: Sequence[bytes], start: int, count: int) -> Sequence[bytes]:
    return lines[start - 1 : start - 1 + count] if count else ()


def _lines(data: bytes) -> list[bytes]:
    return data.replace(b"\r\n", b"\n").split(b"\n")
