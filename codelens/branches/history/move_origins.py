"""What a definition was before a change: in its file, or in another one, by what was removed there.

Parsing and matching the files of a commit costs much more than reading them. What became a
definition was removed where it stood, or it would be a copy; and what is matched by likeness has
half of its words at least (`codelens.branches.definition_matcher`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from codelens.branches.definition_matcher import Matches
from codelens.branches.file_definitions import Definition, FileDefinitions
from codelens.branches.history.standing_text import holds, unix_lines
from codelens.scope.commits.commit_walk import CommitWalk
from codelens.scope.commits.tree_changes import GITLINK, EntryChange
from codelens.scope.text_diff import changed_lines

_WORD = re.compile(rb"\w+")
_LEAST_SHARE = 0.5
_LEAST_SHARE_OF_NAMED = 0.25
"""Where the name was removed too: what it defined may have changed more on the way."""
_LEAST_SHARE_OF_LINES = 0.2
"""A large file has any words; what was moved keeps some lines, at whichever indentation."""
_FEW_LINES = 3
_MOST_ORIGINS = 4
"""Files of one commit in which a definition that is new in its file is looked for."""
_HEAD_BYTES = 8000


class Origin(NamedTuple):
    """Another file that a commit, or what is uncommitted, changed: there it may have stood."""

    path: bytes
    blob: bytes
    data: bytes
    now: bytes | None
    """As the commit left it; None if it is gone."""


def changed_files(walk: CommitWalk, changes: Iterable[EntryChange]) -> Iterator[Origin]:
    """The files that a commit changed, as far as they were there before."""
    for change in changes:
        data = walk.blob(change.old.oid) if change.old is not None else None
        if change.old is None or data is None:
            continue
        gone = change.new is None or change.new.mode == GITLINK
        now = walk.blob(change.new.oid) if change.new is not None and not gone else None
        yield Origin(change.path, change.old.oid, data, now)


def origins_of(files: Iterable[Origin], text: bytes, later: Definition) -> list[Origin]:
    """Other files of a commit that may have had a definition, likely ones first.

    Args:
        files: what the commit changed.
        text: all lines of the definition.
        later: the definition.
    """
    texts: list[Origin] = []
    exact: list[Origin] = []
    for origin in files:
        if b"\0" in origin.data[:_HEAD_BYTES]:
            continue
        if not holds(origin.data, text):
            texts.append(origin)
        elif origin.now is None or not holds(origin.now, text):
            exact.append(origin)
    if exact:
        return exact[:_MOST_ORIGINS]
    shares = [share_removed(origin.data, origin.now, later) for origin in texts]
    ranked = sorted(range(len(texts)), key=lambda at: (-shares[at], at))
    return [texts[at] for at in ranked[:_MOST_ORIGINS] if shares[at]]


def earlier_in_file(old: FileDefinitions, new: Definition) -> Definition | None:
    """What a definition was in an earlier version of its file."""
    return _same_name(old, new) or Matches([old], [new.file]).old_of.get(new)


def _same_name(old: FileDefinitions, new: Definition) -> Definition | None:
    """The one definition of the same name in the same file: what the matcher would take."""
    name = new.symbol.qualified
    if sum(definition.symbol.qualified == name for definition in new.file.definitions) != 1:
        return None
    same = [definition for definition in old.definitions if definition.symbol.qualified == name]
    return same[0] if len(same) == 1 else None


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
    if name in _WORD.findall(b"\n".join(removed)):
        return True
    unchanged = [line for line in _own_lines(definition) if line not in added]
    return _share(definition, [*removed, *unchanged]) >= _LEAST_SHARE


def share_removed(old: bytes, new: bytes | None, definition: Definition) -> float:
    """How much of a definition's words a change of another file removed; 0 if that is too little.

    Args:
        old: the other file before.
        new: the other file after; None if it is gone.
        definition: what may have stood in it.
    """
    present = sum(count for word, count in definition.words.items() if word in old)
    if present < _LEAST_SHARE_OF_NAMED * definition.size:
        return 0.0
    removed = _lines(old) if new is None else _changed(old, new)[0]
    named = definition.name.encode("utf-8", "replace") in _WORD.findall(b"\n".join(removed))
    share = _share(definition, removed)
    least = _LEAST_SHARE_OF_NAMED if named else _LEAST_SHARE
    return share if share >= least else 0.0


def _share(definition: Definition, lines: Sequence[bytes]) -> float:
    """The share of a definition's words in some lines; 0 if its lines are others."""
    own = _own_lines(definition)
    present = {line.strip() for line in lines}
    alike = sum(len(line) for line in own if line in present)
    if len(own) > _FEW_LINES and alike < _LEAST_SHARE_OF_LINES * sum(map(len, own)):
        return 0.0
    words = Counter(_WORD.findall(b"\n".join(lines)))
    return (definition.words & words).total() / max(definition.size, 1)


def _own_lines(definition: Definition) -> list[bytes]:
    lines = definition.file.lines[definition.start : definition.stop]
    return [bare for line in lines if (bare := line.strip())]


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
    return unix_lines(data).split(b"\n")
