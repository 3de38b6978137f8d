"""Finds the files and definitions that differ between a commit and the current files.

Git decides which files differ, regardless of what the view has read. Files whose text is missing or
stale in the view are listed separately: nothing is claimed about their content.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from codelens.branches.code_tokens import code_of, is_comment_line
from codelens.branches.definition_matcher import Matches, paired_files
from codelens.branches.file_definitions import FileDefinitions, FileText
from codelens.branches.sides import CommitSide, FilesSide, SideChange, SideFile, side_changes
from codelens.engine.current_view import NOTHING, CurrentView, Older, OlderTexts, extractor_of
from codelens.engine.graph.setting_uses import MOST_KEYS, SettingKey, keys_in
from codelens.engine.graph.targets import innermost
from codelens.engine.versions.diff_query import files_side, unlisted_notes
from codelens.errors import NoSuchRef, NotInGit, SettingError
from codelens.extract.file_kinds import readable
from codelens.handles.handle_grammar import known_symbols
from codelens.paths import printed
from codelens.resolve.walk.edge_table import MODULE
from codelens.scan.content_hash import hash_of
from codelens.scope.membership import own_rules
from codelens.scope.stored_files import TYPE
from codelens.scope.text_diff import LineChange, base_commit, changed_lines
from codelens.scope.tree_changes import GITLINK, LINK
from codelens.store.facts.contents import hashes, surfaces
from codelens.store.views.views import PENDING, FileRow
from codelens.types import CommitId, Symbol
from codelens.wording import count_of, first_of

_NAMES_SHOWN = 5


class ChangedFile(NamedTuple):
    """One file that differs."""

    path: bytes
    """Its current path, or its former path if it was deleted."""
    how: str
    old_path: bytes
    """Its former path; empty if it is new."""
    old_oid: bytes


class FileChanges(NamedTuple):
    """All files that differ."""

    files: list[ChangedFile]
    unread: list[bytes]
    """Files that differ and exist, but whose text the view does not have."""


def commit_of(view: CurrentView, base: str) -> CommitId:
    """The commit to compare a view with.

    Raises:
        NoSuchRef: `base` does not name a commit.
        NotInGit: the folder is not in a git repository.
        SettingError: the repository has no commit yet.
    """
    root = view.scope.root
    if not view.repository.is_git:
        raise NotInGit(root, "there is no commit to compare with")
    try:
        return base_commit(view.repository, base)
    except NoSuchRef:
        if view.scope.head:
            raise
    raise SettingError(
        f"{root!r} has no commit yet, so there is nothing to compare with; commit first, or name "
        "the files or definitions that change"
    )


def changed_files(view: CurrentView, commit: CommitId) -> FileChanges:
    """The regular files that differ between a commit and a view, including untracked ones.

    Raises:
        ReadError: an object of git cannot be read.
    """
    by_path = view.snapshot.by_path
    contents = {file.content for file in view.snapshot.files if file.content is not None}
    have = hashes(view.snapshot.db, contents)
    changed: list[ChangedFile] = []
    unread: list[bytes] = []
    gone: list[SideFile] = []
    new_side = _new_side(view)
    for path, old, new in _side_changes(view, commit, new_side):
        if new is not None and (path not in by_path or _is_behind(view, by_path[path], have)):
            unread.append(path)
        elif new is None and old is not None:
            gone.append(old)
        elif old is None:
            changed.append(ChangedFile(path, "added", b"", b""))
        else:
            changed.append(ChangedFile(path, "changed", path, old.oid))
    came = {file.path for file in changed if file.how == "added"}
    moved = _moved(view, gone, came, new_side, have) if gone and came else {}
    taken = {old.path for old in moved.values()}
    changed = [file for file in changed if file.path not in moved]
    changed += [ChangedFile(path, "moved", old.path, old.oid) for path, old in moved.items()]
    changed += [
        ChangedFile(old.path, "removed", old.path, old.oid) for old in gone if old.path not in taken
    ]
    return FileChanges(changed, unread)


def unread_notes(view: CurrentView, unread: Sequence[bytes]) -> list[str]:
    """What is unknown because the freshness check is not finished; empty if it is."""
    notes: list[str] = []
    if unread:
        names = first_of([*map(printed, unread)], _NAMES_SHOWN)
        verb = "differs and is" if len(unread) == 1 else "differ and are"
        notes.append(f"at least: {count_of(len(unread), 'file')} {verb} not read yet: {names}")
    return [*notes, *unlisted_notes(view)]


def _new_side(view: CurrentView) -> CommitSide | FilesSide:
    if view.scope.kind == "ref":
        return CommitSide(view.repository, view.scope.head, view.scope.ref or "")
    return files_side(view, "files")


def _side_changes(
    view: CurrentView, commit: CommitId, new_side: CommitSide | FilesSide
) -> list[SideChange]:
    changes = side_changes(CommitSide(view.repository, commit, "base"), new_side, view.snapshot.db)
    if view.scope.kind == "ref":
        rules = own_rules(view.repository, view.scope, view.settings)
        changes = [change for change in changes if not rules.leaves_out(change.path)]
    regular = (SideChange(path, _regular(old), _regular(new)) for path, old, new in changes)
    return [change for change in regular if change.old is not None or change.new is not None]


def _moved(
    view: CurrentView,
    gone: Sequence[SideFile],
    came: Collection[bytes],
    new_side: CommitSide | FilesSide,
    have: Mapping[int, bytes],
) -> dict[bytes, SideFile]:
    """The current path of each file that was renamed -> the file at the commit.

    The rule is that of `diff`: equal bytes, or at least half alike. Among very many files, only
    equal bytes are compared.
    """
    if len(gone) > MOST_FILES or len(came) > MOST_FILES:
        by_hash = {have.get(view.snapshot.by_path[path].content or 0, b""): path for path in came}
        same = (
            (by_hash.pop(hash_of(view.repository.read_blob(old.oid)), b""), old) for old in gone
        )
        return {path: old for path, old in same if path}
    before = {old.path: old for old in gone}
    blobs = ((old.path, view.repository.read_blob(old.oid)) for old in gone)
    then = [_whole_file(path, readable(blob), hash_of(blob)) for path, blob in blobs]
    files = (view.snapshot.by_path[path] for path in sorted(came))
    now = [
        _whole_file(file.path, view.read(file) or b"", have.get(file.content or 0, b""))
        for file in files
    ]
    staged = new_side.staged(came) if isinstance(new_side, FilesSide) else {}
    return {pair.new.path: before[pair.old.path] for pair in paired_files(then, now, staged)}


def _whole_file(path: bytes, text: bytes, key: bytes) -> FileDefinitions:
    """A file without its definitions, to compare it with others."""
    return FileDefinitions(FileText(path, text, (), "", key=key))


def _regular(file: SideFile | None) -> SideFile | None:
    return file if file is not None and file.mode & TYPE not in {LINK, GITLINK} else None


def _is_behind(view: CurrentView, file: FileRow, have: Mapping[int, bytes]) -> bool:
    """Whether the view has no text of a file, or a stale one."""
    if file.state == PENDING:
        return True
    if view.refreshed.status == "fresh" or file.content is None:
        return False
    data = view.bytes_of(file)
    return data is None or hash_of(data) != have.get(file.content)


# Finds the definitions that differ, by the lines that differ.
#
# `branches.definition_matcher` pairs old and new definitions that share a name.

_HEAD_BYTES = 4096
MOST_FILES = 2_000
_PROSE = frozenset({"heading", "key"})
_IMPORT = re.compile(
    rb"\s*(?:import\b|from\s|export\s+(?:type\s+)?(?:\*|\{)"
    rb"|use\s|using\s|#\s*include\b|require\b|(?:const|let|var)\s.*\brequire\()"
)
"""A line that imports or re-exports names."""


class Change(NamedTuple):
    """One definition that differs; or the file, if lines outside of definitions differ."""

    path: bytes
    symbol: int
    """Current position in the file; `MODULE` for the file itself and for deleted definitions."""
    how: str
    """`changed`, `added`, `removed` or `moved`."""
    lines: str
    """Current numbers of the lines that differ: `10-12,40`."""
    old_symbol: int | None = None
    """Position at the commit; None if new, and for files."""
    name: str = ""
    """Qualified name of a deleted definition."""
    number: int = 1
    """Its number among the definitions of that name in its file at the commit."""
    kind: str = ""
    before: bytes = b""
    """The former path of a moved file."""
    listed: bool = True
    """False for a part of a new container, which represents its parts."""
    harmless: bool = False
    """Whether only comments changed or imports were added: no user of the file is affected."""


class Changes(NamedTuple):
    """Everything that differs."""

    commit: str
    changes: list[Change]
    notes: list[str]
    seen_outside: bool
    """Whether other files can see a difference: a signature, a type, an import, a definition added
    or deleted. Otherwise every use has the same target as at the commit."""
    new_positions: Mapping[bytes, Mapping[int, int]]
    """Old position -> new position of each definition in changed files, by path at the commit."""
    keys: tuple[SettingKey, ...] = ()
    """Keys of settings that were changed or deleted."""


def changes_of(view: CurrentView, base: str) -> Changes:
    """What differs between a commit and a view, including untracked files.

    Raises:
        NoSuchRef: `base` does not name a commit.
        NotInGit: the folder is not in a git repository.
        SettingError: the repository has no commit yet.
        ReadError: an object of git cannot be read.
    """
    commit = commit_of(view, base)
    by_path = view.snapshot.by_path
    files, unread = changed_files(view, commit)
    notes = unread_notes(view, unread)
    if len(files) > MOST_FILES:
        notes.append(
            f"at least: {count_of(len(files), 'file')} differ, only the first {MOST_FILES:,} were "
            "read"
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
    """Whether other files can see a difference in a changed file."""
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
        # Too large for the index, or unreadable: its differences are unknown.
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
        # Members that were deleted with their type are not listed.
        if at not in new_positions and not inside:
            yield _removed(path, before, at)


def _keys(
    path: bytes, old: bytes, new: bytes, older: Older, now: Sequence[Symbol]
) -> Iterator[SettingKey]:
    """The keys of settings that lines of one side set and the other side does not have."""
    hunks = changed_lines(old, new)
    yield from keys_in(path, new, now, _changed_spans(new, hunks, new=True))
    yield from keys_in(path, old, older.symbols, _changed_spans(old, hunks, new=False))


def _new_positions(
    path: bytes, old: bytes, new: bytes, older: Older, now: Sequence[Symbol]
) -> Mapping[int, int]:
    """Old position -> new position of the definitions of one file that still have their names."""
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
            # The matcher skips headings and keys: these are paired by order.
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
    """Whether, outside of definitions, only comments differ or imports were added."""
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
    """The lines outside of definitions, each with whether it belongs to an import.

    Import lines are without their comments.
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
    """The lines of import statements, including continuation lines in brackets."""
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
    """The lines of some spans that are outside of definitions."""
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
    """The lines of one side that differ and are not blank, as spans."""
    lines = text.split(b"\n")
    numbers: list[int] = []
    for hunk in hunks:
        start, count = (hunk.new_start, hunk.new_lines) if new else (hunk.old_start, hunk.old_lines)
        numbers += range(start, min(start + count, len(lines) + 1))
    return _spans(number for number in numbers if lines[number - 1].strip())


def _spans(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Consecutive numbers as spans."""
    spans: list[tuple[int, int]] = []
    for line in numbers:
        if spans and spans[-1][1] == line - 1:
            spans[-1] = (spans[-1][0], line)
        else:
            spans.append((line, line))
    return spans


def _line_ranges(symbols: Sequence[Symbol], at: int, spans: Sequence[tuple[int, int]]) -> str:
    """The spans that touch a symbol; for the file, those outside of all symbols."""
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
    return first_of(texts, _SPANS_SHOWN, ",")


_SPANS_SHOWN = 5
