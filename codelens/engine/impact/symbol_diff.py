"""Which definitions differ between a commit and the files of a look, by the lines that differ.

Of several definitions of one name `branches.definition_matcher` tells which became which.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from codelens.branches.comment_syntax import code_of, is_comment_line
from codelens.branches.definition_matcher import Matches
from codelens.branches.file_definitions import FileDefinitions, FileText
from codelens.engine.adhoc_reader import NOTHING, Older, OlderTexts, extractor_of
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.targets import innermost
from codelens.engine.graph.text_uses.setting_keys import MOST_KEYS, SettingKey, keys_in
from codelens.engine.impact.changed_files import (
    ChangedFile,
    changed_files,
    commit_of,
    unread_notes,
)
from codelens.extract.file_kinds import readable
from codelens.handles.handle_naming import known_symbols
from codelens.plurals import count_of
from codelens.resolve.walk.edge_table import MODULE
from codelens.scope.text_diff import LineChange, changed_lines
from codelens.store.facts.contents import surfaces
from codelens.store.views.views import FileRow
from codelens.types import Symbol

_HEAD_BYTES = 4096
MOST_FILES = 2_000
_PROSE = frozenset({"heading", "key"})
_IMPORT = re.compile(
    rb"\s*(?:import\b|from\s|export\s+(?:type\s+)?(?:\*|\{)"
    rb"|use\s|using\s|#\s*include\b|require\b|(?:const|let|var)\s.*\brequire\()"
)
"""A line that brings names in, or hands them on."""


class Change(NamedTuple):
    """One definition that differs; the file itself where lines outside of any differ."""

    path: bytes
    symbol: int
    """Position in the file as it is now; `MODULE` for the file itself and what is gone."""
    how: str
    """`changed`, `added`, `removed` or `moved`."""
    lines: str
    """Lines that differ, as they stand now: `10-12,40`."""
    old_symbol: int | None = None
    """Position at the commit; None for what is new, and for files."""
    name: str = ""
    """Qualified name of a definition that is gone."""
    number: int = 1
    """Of several of that name in its file at the commit which it was."""
    kind: str = ""
    before: bytes = b""
    """Where a file that moved was."""
    listed: bool = True
    """False: it is part of what holds it, which is new as well."""
    harmless: bool = False
    """Comments, or imports that were added: nobody who uses the file can see that."""


class Changes(NamedTuple):
    """All that differs."""

    commit: str
    changes: list[Change]
    notes: list[str]
    seen_outside: bool
    """Other files can see a difference: a signature, a type, an import, a definition more or
    less. Otherwise every use leads where it led at the commit."""
    new_positions: Mapping[bytes, Mapping[int, int]]
    """Of files that changed, by path at the commit: position of a definition then -> now."""
    keys: tuple[SettingKey, ...] = ()
    """Of settings that differ, or are there no more."""


def changes_of(view: CurrentView, base: str) -> Changes:
    """What differs between a commit and a look, untracked files included.

    Raises:
        NoSuchRef: `base` names no commit.
        NotInGit: there is no git here.
        SettingError: there is no commit yet.
        ReadError: what git has cannot be read.
    """
    commit = commit_of(view, base)
    by_path = view.snapshot.by_path
    files, unread = changed_files(view, commit)
    notes = unread_notes(view, unread)
    if len(files) > MOST_FILES:
        notes.append(
            f"at least: {count_of(len(files), 'file')} differ, the first {MOST_FILES:,} were "
            "looked at"
        )
    changes: list[Change] = []
    seen_outside = False
    new_positions: dict[bytes, Mapping[int, int]] = {}
    keys: dict[SettingKey, None] = {}
    with extractor_of(view) as extractor:
        older = OlderTexts(view, extractor)
        for changed_file in sorted(files)[:MOST_FILES]:
            file = by_path.get(changed_file.path)
            blob = view.repository.read_blob(changed_file.old_oid) if changed_file.old_oid else b""
            before = older.facts(changed_file.old_path, blob) if changed_file.old_path else NOTHING
            old = readable(blob)
            if changed_file.old_path and file is not None:
                new, now = view.read(file) or b"", known_symbols(view.snapshot, file)
                keys |= dict.fromkeys(_keys(changed_file.path, old, new, before, now))
                new_positions[changed_file.old_path] = _new_positions(
                    changed_file.path, old, new, before, now
                )
            changes += _of_file(
                view,
                changed_file,
                file,
                old,
                before=before,
                new_positions=new_positions.get(changed_file.old_path, {}),
            )
            seen_outside = (
                seen_outside
                or changed_file.how != "changed"
                or _is_seen_outside(view, file, before)
            )
    return Changes(commit, changes, notes, seen_outside, new_positions, tuple(keys)[:MOST_KEYS])


def _is_seen_outside(view: CurrentView, file: FileRow | None, before: Older) -> bool:
    """Whether other files see a difference in a file that changed."""
    if file is None or file.content is None:
        return True
    stored = surfaces(view.snapshot.db, {file.content}).get(file.content)
    return stored is None or stored[1] != before.surface


def _of_file(
    view: CurrentView, changed_file: ChangedFile, file: FileRow | None, old: bytes, *,
    before: Older, new_positions: Mapping[int, int],
) -> Iterator[Change]:  # fmt: skip
    if file is None or changed_file.how == "removed":
        yield Change(changed_file.path, MODULE, "removed", "")
        for at, symbol in enumerate(before.symbols):
            if symbol.exported and symbol.parent < 0:
                yield _removed(changed_file.path, before.symbols, at)
        return
    now = known_symbols(view.snapshot, file)
    if changed_file.how == "added":
        yield Change(changed_file.path, MODULE, "added", "")
        for at, symbol in enumerate(now):
            outer = symbol.parent < 0 and symbol.kind not in _PROSE
            yield Change(changed_file.path, at, "added", "", listed=outer)
        return
    if changed_file.how == "moved":
        yield Change(changed_file.path, MODULE, "moved", "", before=changed_file.old_path)
    new = view.read(file) or b""
    if file.content is None:
        # Too large for the index, or not to be read: what of it differs is not known.
        yield Change(changed_file.path, MODULE, "changed", "")
        return
    if b"\0" in new[:_HEAD_BYTES] or b"\0" in old[:_HEAD_BYTES]:
        yield Change(changed_file.path, MODULE, "changed", "")
        return
    yield from _by_lines(
        changed_file.path,
        old,
        new,
        before,
        now=now,
        new_positions=new_positions,
    )


def _by_lines(
    path: bytes, old: bytes, new: bytes, older: Older, *, now: Sequence[Symbol],
    new_positions: Mapping[int, int],
) -> Iterator[Change]:  # fmt: skip
    before = older.symbols
    hunks = changed_lines(old, new)
    old_spans, new_spans = (
        _changed_spans(old, hunks, new=False),
        _changed_spans(new, hunks, new=True),
    )
    old_positions = {after: at for at, after in new_positions.items()}
    how_by_position: dict[int, str] = {}
    for at in innermost(now, new_spans):
        how_by_position[at] = "changed" if at == MODULE or at in old_positions else "added"
    for at in innermost(before, old_spans):
        if at == MODULE:
            how_by_position.setdefault(MODULE, "changed")
        elif at in new_positions:
            how_by_position.setdefault(new_positions[at], "changed")
    for at in sorted(how_by_position):
        symbol = now[at] if at != MODULE else None
        inner = symbol is not None and (
            (how_by_position[at] == "added" and how_by_position.get(symbol.parent) == "added")
            or (symbol.kind in _PROSE and MODULE in how_by_position)
        )
        harmless = at == MODULE and _is_harmless(
            old, new, older, now=now, old_spans=old_spans, new_spans=new_spans
        )
        lines = _line_ranges(now, at, new_spans)
        yield Change(
            path,
            at,
            how_by_position[at],
            lines,
            old_positions.get(at),
            listed=not inner,
            harmless=harmless,
        )
    for at, old_symbol in enumerate(before):
        inside = old_symbol.parent >= 0 and old_symbol.parent not in new_positions
        # What went with its type is not told apart.
        if at not in new_positions and not inside:
            yield _removed(path, before, at)


def _keys(
    path: bytes, old: bytes, new: bytes, older: Older, now: Sequence[Symbol]
) -> Iterator[SettingKey]:
    """The keys of settings that lines of either side set and the other side does not have."""
    hunks = changed_lines(old, new)
    yield from keys_in(path, new, now, _changed_spans(new, hunks, new=True))
    yield from keys_in(path, old, older.symbols, _changed_spans(old, hunks, new=False))


def _new_positions(
    path: bytes, old: bytes, new: bytes, older: Older, now: Sequence[Symbol]
) -> Mapping[int, int]:
    """What became of the definitions of one file, as far as they have their names still."""
    before = older.symbols
    places: dict[str, tuple[list[int], list[int]]] = {}
    for side, symbols in enumerate((before, now)):
        for at, symbol in enumerate(symbols):
            places.setdefault(symbol.qualified, ([], []))[side].append(at)
    new_positions: dict[int, int] = {}
    several: list[tuple[list[int], list[int]]] = []
    for olds, news in places.values():
        if len(olds) == len(news) == 1:
            new_positions[olds[0]] = news[0]
        elif olds and news:
            several.append((olds, news))
    if several:
        then, there = (
            [FileDefinitions(FileText(path, text, definitions, older.language))]
            for text, definitions in ((old, before), (new, now))
        )
        matched = Matches(then, there).new_of
        matched_positions = {
            old_definition.at: new_definition.at
            for old_definition, new_definition in matched.items()
        }
        for olds, news in several:
            paired = {at: matched_positions[at] for at in olds if matched_positions.get(at) in news}
            # Headings and keys are no definitions to the matcher: of them the order tells.
            free = iter([at for at in news if at not in paired.values()])
            for at in olds:
                other = next(free, None) if at not in paired and before[at].kind in _PROSE else None
                if other is not None:
                    paired[at] = other
            new_positions |= paired
    return new_positions


def _is_harmless(
    old: bytes, new: bytes, older: Older, *, now: Sequence[Symbol],
    old_spans: Sequence[tuple[int, int]], new_spans: Sequence[tuple[int, int]],
) -> bool:  # fmt: skip
    """Outside of definitions comments alone differ, or imports were added."""
    language = older.language
    gone = _bare_lines(old, older.symbols, old_spans, language)
    come = _bare_lines(new, now, new_spans, language)
    brought = {line for line, imports in come if imports}
    return all(
        not line or is_comment_line(line, language) or line in brought for line, _ in gone
    ) and all(not line or is_comment_line(line, language) or imports for line, imports in come)


def _bare_lines(
    text: bytes, symbols: Sequence[Symbol], spans: Sequence[tuple[int, int]], language: str
) -> list[tuple[bytes, bool]]:
    """Of some lines those that are in no definition; and whether each is of an import.

    Those of imports are without their comments.
    """
    lines = text.split(b"\n")
    importing = _import_lines(lines)
    bare: list[tuple[bytes, bool]] = []
    for number in _outside(symbols, spans):
        line = lines[number - 1].strip()
        imports = number in importing
        bare.append((code_of(line, language).strip() if imports else line, imports))
    return bare


def _import_lines(lines: Sequence[bytes]) -> set[int]:
    """The lines of statements that bring names in, those in brackets included."""
    numbers: set[int] = set()
    closing = b""
    for number, line in enumerate(lines, 1):
        if closing:
            numbers.add(number)
            closing = b"" if closing in line else closing
        elif _IMPORT.match(line):
            numbers.add(number)
            opened = next((sign for sign in (b"()", b"{}") if sign[:1] in line), b"")
            closing = opened[1:] if opened and opened[1:] not in line else b""
    return numbers


def _outside(symbols: Sequence[Symbol], spans: Sequence[tuple[int, int]]) -> list[int]:
    """The lines of some spans that are in no definition."""
    return [
        line
        for start, end in spans
        for line in range(start, end + 1)
        if not any(symbol.start_line <= line <= symbol.end_line for symbol in symbols)
    ]


def _removed(path: bytes, symbols: Sequence[Symbol], at: int) -> Change:
    symbol = symbols[at]
    number = 1 + sum(other.qualified == symbol.qualified for other in symbols[:at])
    return Change(path, MODULE, "removed", "", at, symbol.qualified, number, symbol.kind)


def _changed_spans(text: bytes, hunks: Sequence[LineChange], *, new: bool) -> list[tuple[int, int]]:
    """Lines of one side that differ and are not blank, as spans."""
    lines = text.split(b"\n")
    numbers: list[int] = []
    for hunk in hunks:
        start, count = (hunk.new_start, hunk.new_lines) if new else (hunk.old_start, hunk.old_lines)
        numbers += range(start, min(start + count, len(lines) + 1))
    return _spans(number for number in numbers if lines[number - 1].strip())


def _spans(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Numbers in order, those that follow each other as one span."""
    spans: list[tuple[int, int]] = []
    for line in numbers:
        if spans and spans[-1][1] == line - 1:
            spans[-1] = (spans[-1][0], line)
        else:
            spans.append((line, line))
    return spans


def _line_ranges(symbols: Sequence[Symbol], at: int, spans: Sequence[tuple[int, int]]) -> str:
    """The spans that touch a symbol; for the file itself what is in no symbol."""
    if at == MODULE:
        spans = _spans(_outside(symbols, spans))
    else:
        symbol = symbols[at]
        spans = [
            (max(start, symbol.start_line), min(end, symbol.end_line))
            for start, end in spans
            if start <= symbol.end_line and end >= symbol.start_line
        ]
    texts = [f"{start}-{end}" if end > start else str(start) for start, end in spans]
    return ",".join(texts[:_SPANS_SHOWN]) + (",..." if len(texts) > _SPANS_SHOWN else "")


_SPANS_SHOWN = 5
