"""Compares two sets of files by definitions, and accounts for every line that differs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from codelens.branches.code_tokens import is_comment_line
from codelens.branches.definition_matcher import (
    ADDED,
    BODY,
    DOCUMENTATION,
    FORMATTING,
    MOVED,
    NOTHING_STAGED,
    REMOVED,
    RENAMED,
    SIGNATURE,
    Matches,
    change_of,
)
from codelens.branches.file_definitions import (
    FILE,
    Definition,
    FileDefinitions,
    FileText,
    Lines,
)
from codelens.branches.untouched_definitions import Untouched, untouched

DiffLines = Callable[[bytes, bytes], Sequence[tuple[int, int, int, int]]]
"""The differing lines of two texts, as start and count on both sides."""

_BLANK_ENDS = (b" \n", b"\t\n", b"\r\n")


class OutsideChange(NamedTuple):
    """Differing lines of a file outside of definitions."""

    how: str
    """`imports`, `statements`, `comments`, `text` (files without definitions), `reordered`,
    `owner renamed`, `line ends`; `blank lines` or `encoding` where nothing else differs."""
    old_lines: tuple[Lines, ...]
    new_lines: tuple[Lines, ...]
    names: tuple[str, ...] = ()
    """Names of unchanged definitions at another place in the file."""


def changed_line_ends(
    old: FileDefinitions,
    new: FileDefinitions,
    gone: Sequence[Lines],
    come: Sequence[Lines],
    diff_lines: DiffLines,
) -> Iterator[OutsideChange]:
    """Find lines that differ in CR LF, trailing blanks or a missing last line end.

    Args:
        old: the old file.
        new: the new file.
        gone: lines of `old` that other changes already report.
        come: lines of `new` that other changes already report.
        diff_lines: compares two texts by lines.
    """
    if not _may_differ_in_ends(old.data, new.data):
        return
    before, after = _whole_lines(old.data), _whole_lines(new.data)
    bare, new_bare = ([line.rstrip() for line in lines] for lines in (before, after))
    old_numbers: list[int] = []
    new_numbers: list[int] = []
    for start, new_start, count in _alike_stretches(bare, new_bare, diff_lines):
        if before[start : start + count] == after[new_start : new_start + count]:
            continue
        for at in range(count):
            line, other = before[start + at], after[new_start + at]
            if line != other and (bare[start + at] or _line_end(line) != _line_end(other)):
                old_numbers.append(start + at + 1)
                new_numbers.append(new_start + at + 1)
    reported_old, reported_new = _numbers(gone), _numbers(come)
    left = [
        pair
        for pair in zip(old_numbers, new_numbers, strict=True)
        if pair[0] not in reported_old or pair[1] not in reported_new
    ]
    if left:
        yield OutsideChange(
            "line ends",
            tuple(line_ranges(line for line, _ in left)),
            tuple(line_ranges(line for _, line in left)),
        )


def _may_differ_in_ends(old: bytes, new: bytes) -> bool:
    if old.endswith(b"\n") != new.endswith(b"\n"):
        return True
    return any(blanks in text for blanks in _BLANK_ENDS for text in (old, new))


def _whole_lines(data: bytes) -> list[bytes]:
    """Split into lines with their ends."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()
    return [*lines, last[:-1]] if len(last) > 1 else lines


def _line_end(line: bytes) -> bytes:
    return line[-2:] if line.endswith(b"\r\n") else line[-1:]


def _alike_stretches(
    old: Sequence[bytes], new: Sequence[bytes], diff_lines: DiffLines
) -> Iterator[tuple[int, int, int]]:
    """Yield the 0-based starts and lengths of runs of equal lines."""
    at = new_at = 0
    if old != new:
        texts = [b"".join(line + b"\n" for line in lines) for lines in (old, new)]
        for start, count, new_start, new_count in diff_lines(*texts):
            first = start - 1 if count else start
            new_first = new_start - 1 if new_count else new_start
            yield at, new_at, first - at
            at, new_at = first + count, new_first + new_count
    yield at, new_at, min(len(old) - at, len(new) - new_at)


def _numbers(spans: Iterable[Lines]) -> set[int]:
    return {line for start, stop in spans for line in range(start, stop + 1)}


def merged(spans: Iterable[Lines]) -> list[Lines]:
    """Return spans in order, with adjacent ones merged."""
    merged: list[Lines] = []
    for start, stop in sorted(spans):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], stop))
        else:
            merged.append((start, stop))
    return merged


def line_ranges(numbers: Iterable[int]) -> list[Lines]:
    """Convert line numbers to spans in order."""
    return merged((number, number) for number in numbers)


# Compares two sets of files by definitions; every differing line belongs to a reported change.
#
# To account for all lines, the lines of reported definitions are removed from both files of each
# pair. Lines that still differ are reported as code outside of definitions, or, inside a definition
# with unchanged text, as moved within the file (`reordered`).

_IMPORT = re.compile(
    rb"\s*(?:import\b|from\s|export\s+(?:type\s+)?(?:\*|\{)|use\s|using\s|#\s*include\b|require\b"
    rb"|require_relative\b|package\s|(?:const|let|var)\s.*\brequire\(|extern\s+crate\b)"
)
_WHOLE = frozenset({"text", "generated", "vendored"})
_CONTEXT = 50
"""How many equal lines to compare around a difference, since a diff may shift its ends."""
_MOST_CHANGES = 100
"""With more changes, texts are compared whole: then a diff is approximate and needs all lines."""
_IN_PLACE = frozenset({SIGNATURE, BODY, DOCUMENTATION, FORMATTING})


class DefinitionChange(NamedTuple):
    """A definition that differs."""

    how: tuple[str, ...]
    """One or more of `added`, `removed`, `moved`, `renamed`, `signature`, `body`, `documentation`,
    `formatting`."""
    old: Definition | None
    new: Definition | None
    old_lines: tuple[Lines, ...]
    """Its own lines; includes inner definitions only if they were added or removed with it."""
    new_lines: tuple[Lines, ...]
    inside: int = 0
    """How many inner definitions were added or removed with it."""
    share_new: float = 0.0
    """Share of its words that is new, for a moved or renamed definition."""

    @property
    def definition(self) -> Definition:
        """The new definition; the old one if it was removed."""
        definition = self.new or self.old
        assert definition is not None
        return definition


class FileChange(NamedTuple):
    """A file that differs."""

    how: str
    """`added`, `removed`, `renamed`, `changed` or `mode`."""
    old: FileDefinitions | None
    new: FileDefinitions | None
    definitions: tuple[DefinitionChange, ...]
    outside: tuple[OutsideChange, ...]

    @property
    def file(self) -> FileDefinitions:
        """The new file; the old one if it was removed."""
        file = self.new or self.old
        assert file is not None
        return file


class DefinitionDiff(NamedTuple):
    """All differences, by path."""

    files: tuple[FileChange, ...]
    matches: Matches


def definition_diff(
    old: Iterable[FileText], new: Iterable[FileText], diff_lines: DiffLines,
    staged: Mapping[bytes, bytes] = NOTHING_STAGED, *, whole: bool = True,
) -> DefinitionDiff:  # fmt: skip
    """Compare the files that differ between two sides.

    Args:
        old: files of the old side that are missing or different on the new side.
        new: files of the new side that are missing or different on the old side.
        diff_lines: compares two texts by lines.
        staged: texts in git's index of files that the old side lacks: a user may have renamed a
            file in git's index and then changed most of it on disk.
        whole: build and match all definitions. Otherwise those with no change nearby are left out;
            the result is the same.
    """
    before, after = (sorted(files, key=lambda file: file.path) for files in (old, new))
    lines = _ChangedLines(diff_lines)
    left_out = {} if whole else _left_out(before, after, lines)
    nothing = Untouched(frozenset(), frozenset())
    matches = Matches(
        [FileDefinitions(file, left_out.get(file.path, nothing).old) for file in before],
        [FileDefinitions(file, left_out.get(file.path, nothing).new) for file in after],
        staged,
    )
    lines.pair(matches)
    changes_by_path = dict[bytes, list[DefinitionChange]]()
    follows = dict[tuple[bytes, bool], list[Lines]]()
    for change in _changes(matches, lines, follows):
        changes_by_path.setdefault(change.definition.file.path, []).append(change)
    gone_lines = _gone_lines(changes_by_path)
    files = [
        _pair_change(pair.old, pair.new, changes_by_path, gone_lines, follows=follows, lines=lines)
        for pair in matches.pairs
    ]
    files += [_file_alone(file, REMOVED, changes_by_path) for file in matches.removed_files]
    files += [_file_alone(file, ADDED, changes_by_path) for file in matches.added_files]
    shown = [file for file in files if file is not None]
    return DefinitionDiff(tuple(sorted(shown, key=lambda change: change.file.path)), matches)


def _left_out(
    old: Sequence[FileText], new: Sequence[FileText], lines: _ChangedLines
) -> dict[bytes, Untouched]:
    """The untouched symbols of each file that both sides have."""
    by_path = {file.path: file for file in new}
    return {
        file.path: untouched(file.symbols, other.symbols, lines.of(file, other))
        for file in old
        if (other := by_path.get(file.path)) is not None
        and file.language == other.language
        and {file.shown, other.shown} <= _WHOLE
        and (file.symbols and other.symbols)
    }


class _ChangedLines:
    """The differing lines of each pair of files, compared on demand."""

    def __init__(self, diff_lines: DiffLines) -> None:
        self._new_of: dict[bytes, FileDefinitions] = {}
        self.diff_lines = diff_lines
        self._known: dict[bytes, Sequence[tuple[int, int, int, int]]] = {}
        self._spans: dict[bytes, tuple[list[Lines], list[Lines]]] = {}

    def pair(self, matches: Matches) -> None:
        """Record which files are pairs."""
        self._new_of = {pair.old.path: pair.new for pair in matches.pairs}

    def of(
        self, old: FileDefinitions | FileText, new: FileDefinitions | FileText
    ) -> Sequence[tuple[int, int, int, int]]:
        """The differing lines of a pair of files."""
        changed_lines = self._known.get(old.path)
        if changed_lines is None:
            changed_lines = self._known[old.path] = self.diff_lines(old.data, new.data)
        return changed_lines

    def has_untouched(self, old: Definition, new: Definition) -> bool:
        """Whether two definitions are in one pair of files, and none of their lines changed.

        Then their texts are equal, or differ only in how they were parsed: if a grammar fails on
        other lines of a file, it may parse a line above a definition, such as an annotation, as a
        statement in one version and as part of the definition in the other.
        """
        if self._new_of.get(old.file.path) is not new.file:
            return False
        spans = self._spans.get(old.file.path)
        if spans is None:
            gone: list[Lines] = []
            come: list[Lines] = []
            for start, count, new_start, new_count in self.of(old.file, new.file):
                gone += [(start, start + count - 1)] if count else []
                come += [(new_start, new_start + new_count - 1)] if new_count else []
            spans = self._spans[old.file.path] = (gone, come)
        return not (_meet(spans[0], old.spans) or _meet(spans[1], new.spans))


def _meet(changed: Sequence[Lines], spans: Sequence[Lines]) -> bool:
    """Whether any of the spans overlaps a changed line; both are in order."""
    for start, stop in spans:
        before = bisect_right(changed, stop, key=lambda lines: lines[0])
        if before and changed[before - 1][1] >= start:
            return True
    return False


def _changes(
    matches: Matches,
    lines: _ChangedLines,
    follows: dict[tuple[bytes, bool], list[Lines]],
) -> Iterator[DefinitionChange]:
    yield from _all_alone(matches)
    changes: dict[Definition, DefinitionChange] = {}
    following: list[tuple[Definition, Definition]] = []
    paths = {pair.old.path: pair.new.path for pair in matches.pairs}
    for old, new in matches.new_of.items():
        is_untouched = lines.has_untouched(old, new)
        if is_untouched and old.symbol.qualified == new.symbol.qualified:
            continue
        how, share = change_of(old, new, matches)
        if is_untouched and _IN_PLACE.issuperset(how):
            continue
        if how:
            changes[new] = DefinitionChange(
                how, old, new, tuple(old.spans), tuple(new.spans), 0, share
            )
        elif old.own != new.own or paths.get(old.file.path) != new.file.path:
            following.append((old, new))
    for old, new in following:
        # It moved with its owner or differs only by the owner's new name, which is reported.
        head = _head(new, changes)
        if head is not None:
            change = changes[head]
            changes[head] = change._replace(
                old_lines=(*change.old_lines, *old.spans),
                new_lines=(*change.new_lines, *new.spans),
                inside=change.inside + 1,
            )
        else:
            follows.setdefault((old.file.path, True), []).extend(old.spans)
            follows.setdefault((new.file.path, False), []).extend(new.spans)
    for change in changes.values():
        yield change._replace(
            old_lines=tuple(merged(change.old_lines)), new_lines=tuple(merged(change.new_lines))
        )


def _all_alone(matches: Matches) -> Iterator[DefinitionChange]:
    for pair_old, pair_new in matches.pairs:
        yield from _alone(pair_old.definitions, matches, old=True)
        yield from _alone(pair_new.definitions, matches, old=False)
    for file in matches.removed_files:
        yield from _alone(file.definitions, matches, old=True)
    for file in matches.added_files:
        yield from _alone(file.definitions, matches, old=False)


def _head(definition: Definition, changes: dict[Definition, DefinitionChange]) -> Definition | None:
    """Return a definition's owner if the owner was moved or renamed."""
    parent = definition.file.by_symbol.get(definition.symbol.parent)
    while parent is not None:
        change = changes.get(parent)
        if change is not None and {MOVED, RENAMED} & set(change.how):
            return parent
        parent = definition.file.by_symbol.get(parent.symbol.parent)
    return None


def _alone(
    definitions: Sequence[Definition], matches: Matches, *, old: bool
) -> Iterator[DefinitionChange]:
    """Report definitions of one side, each together with its inner definitions."""
    counterpart_of = matches.new_of if old else matches.old_of
    by_symbol = {definition.at: definition for definition in definitions}
    heads: dict[Definition, list[Definition]] = {}
    head_of: dict[Definition, Definition] = {}
    for definition in definitions:
        if definition in counterpart_of:
            continue
        parent = by_symbol.get(definition.symbol.parent)
        head = head_of.get(parent) if parent is not None else None
        head_of[definition] = head or definition
        heads.setdefault(head or definition, []).append(definition)
    for head, members in heads.items():
        lines = tuple(merged([span for member in members for span in member.spans]))
        if old:
            yield DefinitionChange((REMOVED,), head, None, lines, (), len(members) - 1)
        else:
            yield DefinitionChange((ADDED,), None, head, (), lines, len(members) - 1)


def _gone_lines(
    changes_by_path: dict[bytes, list[DefinitionChange]],
) -> dict[bytes, list[Lines]]:
    """Return the lines of the old side that changes report, by old path."""
    lines_by_path: dict[bytes, list[Lines]] = {}
    for changes in changes_by_path.values():
        for change in changes:
            if change.old is not None:
                lines_by_path.setdefault(change.old.file.path, []).extend(change.old_lines)
    return lines_by_path


def _pair_change(
    old: FileDefinitions,
    new: FileDefinitions,
    changes_by_path: dict[bytes, list[DefinitionChange]],
    gone_lines: dict[bytes, list[Lines]],
    *,
    follows: dict[tuple[bytes, bool], list[Lines]],
    lines: _ChangedLines,
) -> FileChange | None:
    how = "renamed" if old.path != new.path else "changed"
    changes = list(changes_by_path.get(new.path, ()))
    if old.path != new.path:
        changes += [change for change in changes_by_path.get(old.path, ()) if change.new is None]
    changes.sort(
        key=lambda change: (
            change.new is None,
            change.definition.symbol.start_line,
            change.definition.at,
        )
    )
    if old.data == new.data:
        if how == "changed" and old.text.mode != new.text.mode:
            how = "mode"
        outside = (OutsideChange("encoding", (), ()),) if _recoded(old, new) else ()
        is_reported = changes or outside or how != "changed"
        return FileChange(how, old, new, tuple(changes), outside) if is_reported else None
    if old.text.shown not in _WHOLE or new.text.shown not in _WHOLE:
        return FileChange(how, old, new, tuple(changes), ())
    gone = gone_lines.get(old.path, []) + follows.get((old.path, True), [])
    come = [span for change in changes if change.new is not None for span in change.new_lines]
    come += follows.get((new.path, False), [])
    differing: list[OutsideChange] = []
    if not _accounts_for(old, new, gone, come, lines.of(old, new)):
        differing += _outside(old, new, gone, come, lines=lines)
    differing += _following(old, new, follows)
    differing += changed_line_ends(old, new, gone, come, lines.diff_lines)
    if not differing and not changes:
        differing.append(OutsideChange("blank lines", (), ()))
    return FileChange(how, old, new, tuple(changes), tuple(differing))


def _recoded(old: FileDefinitions, new: FileDefinitions) -> bool:
    """Whether only the encoding of the text changed."""
    return bool(old.text.key and new.text.key) and old.text.key != new.text.key


def _following(
    old: FileDefinitions, new: FileDefinitions, follows: dict[tuple[bytes, bool], list[Lines]]
) -> Iterator[OutsideChange]:
    gone, come = follows.get((old.path, True), []), follows.get((new.path, False), [])
    if gone or come:
        yield OutsideChange("owner renamed", tuple(merged(gone)), tuple(merged(come)))


def _file_alone(
    file: FileDefinitions, how: str, changes_by_path: dict[bytes, list[DefinitionChange]]
) -> FileChange:
    changes = sorted(
        (
            change
            for change in changes_by_path.get(file.path, ())
            if (change.new is None) == (how == REMOVED)
        ),
        key=lambda change: (change.definition.symbol.start_line, change.definition.at),
    )
    lines = tuple(line_ranges(line + 1 for line in file.outside if file.lines[line].strip()))
    kind = "text" if not file.definitions else "statements"
    outside = ()
    if lines and file.text.shown in _WHOLE:
        sides = (lines, ()) if how == REMOVED else ((), lines)
        outside = (OutsideChange(kind, *sides),)
    old, new = (file, None) if how == REMOVED else (None, file)
    return FileChange(how, old, new, tuple(changes), outside)


def _accounts_for(
    old: FileDefinitions,
    new: FileDefinitions,
    gone: Sequence[Lines],
    come: Sequence[Lines],
    changed: Sequence[tuple[int, int, int, int]],
) -> bool:
    """Whether the reported lines include all that differ, and equal lines on both sides.

    Then nothing else differs, and most files need no second comparison.
    """
    marks, new_marks = _marks(old, gone), _marks(new, come)
    at = new_at = 0
    for start, count, new_start, new_count in changed:
        first = start - 1 if count else start
        new_first = new_start - 1 if new_count else new_start
        if marks[at:first] != new_marks[new_at:new_first]:
            return False
        at, new_at = first + count, new_first + new_count
        sides = ((old, marks, first, at), (new, new_marks, new_first, new_at))
        for file, side_marks, begin, end in sides:
            if any(not side_marks[line] and file.lines[line].strip() for line in range(begin, end)):
                return False
    return marks[at:] == new_marks[new_at:]


def _outside(
    old: FileDefinitions,
    new: FileDefinitions,
    gone: Sequence[Lines],
    come: Sequence[Lines],
    *,
    lines: _ChangedLines,
) -> Iterator[OutsideChange]:
    """Compare what is left without the lines of reported definitions."""
    marks, new_marks = _marks(old, gone), _marks(new, come)
    near, new_near = _near_changes(lines.of(old, new), marks, new_marks)
    left_old, left_new = _left(old, marks, near), _left(new, new_marks, new_near)
    texts = [
        b"\n".join(file.lines[line].rstrip() for line in left) + b"\n"
        for file, left in ((old, left_old), (new, left_new))
    ]
    if texts[0] == texts[1]:
        return
    sorted_old: dict[str, list[int]] = {}
    sorted_new: dict[str, list[int]] = {}
    names: dict[str, None] = {}
    for start, count, new_start, new_count in lines.diff_lines(*texts):
        for line in left_old[start - 1 : start - 1 + count] if count else ():
            sorted_old.setdefault(_kind(old, line, names), []).append(line + 1)
        for line in left_new[new_start - 1 : new_start - 1 + new_count] if new_count else ():
            sorted_new.setdefault(_kind(new, line, names), []).append(line + 1)
    for how in sorted(sorted_old.keys() | sorted_new.keys()):
        yield OutsideChange(
            how,
            tuple(line_ranges(sorted_old.get(how, ()))),
            tuple(line_ranges(sorted_new.get(how, ()))),
            tuple(names) if how == "reordered" else (),
        )


def _near_changes(
    changed: Sequence[tuple[int, int, int, int]], marks: bytearray, new_marks: bytearray
) -> tuple[list[range], list[range]]:
    """Return the lines of both sides, 0-based, without equal ones far from a change."""
    if len(changed) > _MOST_CHANGES:
        return [range(len(marks))], [range(len(new_marks))]
    old_ranges: list[range] = []
    new_ranges: list[range] = []
    at = new_at = resumed = new_resumed = 0
    for start, count, new_start, new_count in [*changed, (len(marks), 0, len(new_marks), 0)]:
        first = start - 1 if count else start
        new_first = new_start - 1 if new_count else new_start
        begin, end = at + _CONTEXT * bool(at or new_at), first - _CONTEXT * (first < len(marks))
        if begin < end and marks[at:first] == new_marks[new_at:new_first]:
            old_ranges.append(range(resumed, begin))
            new_ranges.append(range(new_resumed, new_at + begin - at))
            resumed, new_resumed = end, new_first + end - first
        at, new_at = first + count, new_first + new_count
    old_ranges.append(range(resumed, len(marks)))
    new_ranges.append(range(new_resumed, len(new_marks)))
    return old_ranges, new_ranges


def _left(file: FileDefinitions, marks: bytearray, near: Sequence[range]) -> list[int]:
    """Return the 0-based non-blank lines of some ranges that no change reports."""
    lines = file.lines
    return [line for part in near for line in part if not marks[line] and lines[line].strip()]


def _marks(file: FileDefinitions, taken: Sequence[Lines]) -> bytearray:
    """Return for each line whether a change reports it."""
    marks = bytearray(len(file.lines))
    for start, stop in taken:
        marks[start - 1 : stop] = b"\1" * (min(stop, len(file.lines)) - start + 1)
    return marks


def _kind(file: FileDefinitions, line: int, names: dict[str, None]) -> str:
    owner = file.owners[line]
    if owner != FILE:
        names[file.by_symbol[owner].symbol.qualified] = None
        return "reordered"
    if not file.has_definitions:
        return "text"
    text = file.lines[line]
    if _IMPORT.match(text):
        return "imports"
    return "comments" if is_comment_line(text, file.language) else "statements"
