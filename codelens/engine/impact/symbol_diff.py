"""Which definitions differ between a commit and the files of a look, by the lines that differ.

Of several definitions of one name `branches.definition_matcher` tells which became which.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from codelens.branches.definition_matcher import Matches
from codelens.branches.file_definitions import FileDefinitions, FileText
from codelens.engine.adhoc_reader import NOTHING, Older, OlderTexts, extractor_of
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.targets import innermost
from codelens.errors import NoSuchRef, NotInGit, SettingError
from codelens.extract.file_kinds import decode
from codelens.handles.handle_naming import known_symbols
from codelens.plurals import count_of
from codelens.resolve.walk.edge_table import MODULE
from codelens.scan.content_hash import hash_of
from codelens.scope.commits.commit_tree import read_tree
from codelens.scope.text_diff import LineChange, base_commit, changed_lines, left_out
from codelens.store.facts.contents import blobs, surfaces
from codelens.store.facts.raw_hashes import hashes
from codelens.store.views.views import FileRow
from codelens.types import CommitId, Symbol

_HEAD_BYTES = 4096
MOST_FILES = 2_000
_PROSE = frozenset({"heading", "key"})
_HASHED = frozenset({b"py", b"pyi", b"rb", b"sh", b"toml", b"yml", b"yaml", b"r", b"pl", b"ex"})
"""Ends of files in which `#` begins a comment."""
_COMMENT = re.compile(rb"\s*(?://|/\*|\*|\Z)")
_COMMENT_HASH = re.compile(rb"\s*(?:#|\Z)")
_IMPORT = re.compile(
    rb"\s*(?:import\b|from\s|export\s+(?:type\s+)?(?:\*|\{)"
    rb"|use\s|using\s|#\s*include\b|require\b|(?:const|let|var)\s.*\brequire\()"
)
"""A line that brings names in, or hands them on."""
_WIDE = (b"\xff\xfe", b"\xfe\xff")


class Change(NamedTuple):
    """One definition that differs; the file itself where lines outside of any differ."""

    path: bytes
    symbol: int
    """Position in the file as it is now; `MODULE` for the file itself and what is gone."""
    how: str
    """`changed`, `added`, `removed` or `moved`."""
    lines: str
    """Lines that differ, as they stand now: `10-12,40`."""
    was: int | None = None
    """Position at the commit; None for what is new, and for files."""
    name: str = ""
    """Qualified name of a definition that is gone."""
    number: int = 1
    """Of several of that name in its file at the commit which it was."""
    kind: str = ""
    before: bytes = b""
    """Where a file that moved was."""
    told: bool = True
    """False: it is told by what holds it, which is new as well."""
    harmless: bool = False
    """Comments, or imports that were added: nobody who uses the file can see that."""


class _File(NamedTuple):
    """One file that differs."""

    path: bytes
    """Where it is now; where it was, if it is gone."""
    how: str
    old_path: bytes
    """Where it was; empty if it is new."""
    old_oid: bytes


class Changes(NamedTuple):
    """All that differs."""

    commit: str
    changes: list[Change]
    notes: list[str]
    seen_outside: bool
    """Other files can see a difference: a signature, a type, an import, a definition more or
    less. Otherwise every use leads where it led at the commit."""
    became: Mapping[bytes, Mapping[int, int]]
    """Of files that changed, by path at the commit: position of a definition then -> now."""


def changes_of(view: CurrentView, base: str) -> Changes:
    """What differs between a commit and a look, untracked files included.

    Raises:
        NoSuchRef: `base` names no commit.
        NotInGit: there is no git here.
        SettingError: there is no commit yet.
        ReadError: what git has cannot be read.
    """
    commit = _commit(view, base)
    by_path = view.snapshot.by_path
    files = _files(view, commit)
    notes: list[str] = []
    if len(files) > MOST_FILES:
        notes.append(
            f"at least: {count_of(len(files), 'file')} differ, the first {MOST_FILES:,} were "
            "looked at"
        )
    changes: list[Change] = []
    seen_outside = False
    became: dict[bytes, Mapping[int, int]] = {}
    with extractor_of(view) as extractor:
        older = OlderTexts(view, extractor)
        for one in sorted(files)[:MOST_FILES]:
            file = by_path.get(one.path)
            if file is None and one.how != "removed":
                continue
            old = view.repository.read_blob(one.old_oid) if one.old_oid else b""
            before = older.facts(one.old_path, old) if one.old_path else NOTHING
            if one.old_path and file is not None:
                new, now = view.read(file) or b"", known_symbols(view.snapshot, file)
                became[one.old_path] = _became(one.path, _texts(old), _texts(new), before, now)
            changes += _of_file(view, one, file, old, before, became.get(one.old_path, {}))
            seen_outside = seen_outside or one.how != "changed" or _looks_other(view, file, before)
    return Changes(commit, changes, notes, seen_outside, became)


def _commit(view: CurrentView, base: str) -> CommitId:
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


def _files(view: CurrentView, commit: CommitId) -> list[_File]:
    """Files whose bytes differ, told by hash: those of git's objects are known to the store."""
    snapshot, repository = view.snapshot, view.repository
    then = {bytes(one.path): one.oid for one in read_tree(repository, commit).files}
    told = {oid: known[0] for oid, known in blobs(snapshot.db, set(then.values())).items()}
    now = {file.path: file for file in snapshot.files}
    have = hashes(snapshot.db, {file.content for file in now.values() if file.content is not None})

    def hash_then(path: bytes) -> bytes:
        oid = then[path]
        if oid not in told:
            told[oid] = hash_of(repository.read_blob(oid))
        return told[oid]

    found: list[_File] = []
    for path, file in now.items():
        if path not in then:
            found.append(_File(path, "added", b"", b""))
        elif file.content is not None and have.get(file.content) != hash_then(path):
            found.append(_File(path, "changed", path, then[path]))
    gone = then.keys() - now.keys()
    if gone:
        gone -= left_out(repository, view.scope)
    new = (one for one in found if one.how == "added")
    moved: dict[bytes, _File] = {have.get(now[one.path].content or 0, b""): one for one in new}
    for path in sorted(gone):
        same = moved.pop(hash_then(path), None)
        if same is None:
            found.append(_File(path, "removed", path, then[path]))
        else:
            found.remove(same)
            found.append(_File(same.path, "moved", path, then[path]))
    return found


def _looks_other(view: CurrentView, file: FileRow | None, before: Older) -> bool:
    """Whether other files see a difference in a file that changed."""
    if file is None or file.content is None:
        return True
    known = surfaces(view.snapshot.db, {file.content}).get(file.content)
    return known is None or known[1] != before.surface


def _of_file(
    view: CurrentView, one: _File, file: FileRow | None, old: bytes, before: Older,
    became: Mapping[int, int],
) -> Iterator[Change]:  # fmt: skip
    if file is None or one.how == "removed":
        yield Change(one.path, MODULE, "removed", "")
        for at, symbol in enumerate(before.symbols):
            if symbol.exported and symbol.parent < 0:
                yield _gone(one.path, before.symbols, at)
        return
    now = known_symbols(view.snapshot, file)
    if one.how == "added":
        yield Change(one.path, MODULE, "added", "")
        for at, symbol in enumerate(now):
            outer = symbol.parent < 0 and symbol.kind not in _PROSE
            yield Change(one.path, at, "added", "", told=outer)
        return
    if one.how == "moved":
        yield Change(one.path, MODULE, "moved", "", before=one.old_path)
    new = view.read(file) or b""
    if b"\0" in new[:_HEAD_BYTES] or b"\0" in old[:_HEAD_BYTES]:
        yield Change(one.path, MODULE, "changed", "")
        return
    yield from _by_lines(one.path, _texts(old), _texts(new), before.symbols, now, became)


def _by_lines(
    path: bytes, old: bytes, new: bytes, before: Sequence[Symbol], now: Sequence[Symbol],
    became: Mapping[int, int],
) -> Iterator[Change]:  # fmt: skip
    hunks = changed_lines(old, new)
    was, stands = _written(old, hunks, new=False), _written(new, hunks, new=True)
    came_from = {after: at for at, after in became.items()}
    found: dict[int, str] = {}
    for at in innermost(now, stands):
        found[at] = "changed" if at == MODULE or at in came_from else "added"
    for at in innermost(before, was):
        if at == MODULE:
            found.setdefault(MODULE, "changed")
        elif at in became:
            found.setdefault(became[at], "changed")
    for at in sorted(found):
        symbol = now[at] if at != MODULE else None
        inner = symbol is not None and (
            (found[at] == "added" and found.get(symbol.parent) == "added")
            or (symbol.kind in _PROSE and MODULE in found)
        )
        harmless = at == MODULE and _harmless(path, old, new, before, now, was, stands)
        lines = _shown(now, at, stands)
        yield Change(
            path, at, found[at], lines, came_from.get(at), told=not inner, harmless=harmless
        )
    for at, one in enumerate(before):
        inside = one.parent >= 0 and one.parent not in became
        # What went with its type is not told apart.
        if at not in became and not inside:
            yield _gone(path, before, at)


def _became(
    path: bytes, old: bytes, new: bytes, older: Older, now: Sequence[Symbol]
) -> Mapping[int, int]:
    """What became of the definitions of one file, as far as they have their names still."""
    before = older.symbols
    places: dict[str, tuple[list[int], list[int]]] = {}
    for side, symbols in enumerate((before, now)):
        for at, one in enumerate(symbols):
            places.setdefault(one.qualified, ([], []))[side].append(at)
    found: dict[int, int] = {}
    several: list[tuple[list[int], list[int]]] = []
    for olds, news in places.values():
        if len(olds) == len(news) == 1:
            found[olds[0]] = news[0]
        elif olds and news:
            several.append((olds, news))
    if several:
        sides = [
            FileText(path, text, ones, older.language) for text, ones in ((old, before), (new, now))
        ]
        matched = Matches(*([FileDefinitions(one)] for one in sides)).new_of
        told = {one.at: other.at for one, other in matched.items()}
        for olds, news in several:
            paired = {at: told[at] for at in olds if told.get(at) in news}
            # Headings and keys are no definitions to the matcher: of them the order tells.
            free = iter([at for at in news if at not in paired.values()])
            for at in olds:
                other = next(free, None) if at not in paired and before[at].kind in _PROSE else None
                if other is not None:
                    paired[at] = other
            found |= paired
    return found


def _harmless(
    path: bytes, old: bytes, new: bytes, before: Sequence[Symbol], now: Sequence[Symbol],
    was: Sequence[tuple[int, int]], stands: Sequence[tuple[int, int]],
) -> bool:  # fmt: skip
    """Outside of definitions comments alone differ, or imports were added."""
    hashed = path.rpartition(b".")[2] in _HASHED
    comment, mark = (_COMMENT_HASH, b"#") if hashed else (_COMMENT, b"//")
    gone, come = _bare_lines(old, before, was, mark), _bare_lines(new, now, stands, mark)
    brought = {line for line, imports in come if imports}
    return all(comment.match(line) or line in brought for line, _ in gone) and all(
        comment.match(line) or imports for line, imports in come
    )


def _bare_lines(
    text: bytes, symbols: Sequence[Symbol], spans: Sequence[tuple[int, int]], mark: bytes
) -> list[tuple[bytes, bool]]:
    """Of some lines those that are in no definition; and whether each is of an import.

    Those of imports are without what follows the mark of a comment.
    """
    lines = text.split(b"\n")
    importing = _import_lines(lines)
    found: list[tuple[bytes, bool]] = []
    for number in _outside(symbols, spans):
        line = lines[number - 1].strip()
        imports = number in importing
        found.append((line.split(mark)[0].strip() if imports else line, imports))
    return found


def _import_lines(lines: Sequence[bytes]) -> set[int]:
    """The lines of statements that bring names in, those in brackets included."""
    found: set[int] = set()
    closing = b""
    for number, line in enumerate(lines, 1):
        if closing:
            found.add(number)
            closing = b"" if closing in line else closing
        elif _IMPORT.match(line):
            found.add(number)
            opened = next((sign for sign in (b"()", b"{}") if sign[:1] in line), b"")
            closing = opened[1:] if opened and opened[1:] not in line else b""
    return found


def _outside(symbols: Sequence[Symbol], spans: Sequence[tuple[int, int]]) -> list[int]:
    """The lines of some spans that are in no definition."""
    return [
        line
        for start, end in spans
        for line in range(start, end + 1)
        if not any(one.start_line <= line <= one.end_line for one in symbols)
    ]


def _gone(path: bytes, symbols: Sequence[Symbol], at: int) -> Change:
    one = symbols[at]
    number = 1 + sum(other.qualified == one.qualified for other in symbols[:at])
    return Change(path, MODULE, "removed", "", at, one.qualified, number, one.kind)


def _written(text: bytes, hunks: Sequence[LineChange], *, new: bool) -> list[tuple[int, int]]:
    """Lines of one side that differ and are not blank, as spans."""
    lines = text.split(b"\n")
    numbers: list[int] = []
    for hunk in hunks:
        start, count = (hunk.new_start, hunk.new_lines) if new else (hunk.old_start, hunk.old_lines)
        numbers += range(start, min(start + count, len(lines) + 1))
    return _spans(number for number in numbers if lines[number - 1].strip())


def _spans(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Numbers in order, those that follow each other as one span."""
    found: list[tuple[int, int]] = []
    for line in numbers:
        if found and found[-1][1] == line - 1:
            found[-1] = (found[-1][0], line)
        else:
            found.append((line, line))
    return found


def _shown(symbols: Sequence[Symbol], at: int, spans: Sequence[tuple[int, int]]) -> str:
    """The spans that touch a symbol; for the file itself what is in no symbol."""
    if at == MODULE:
        spans = _spans(_outside(symbols, spans))
    else:
        one = symbols[at]
        spans = [
            (max(start, one.start_line), min(end, one.end_line))
            for start, end in spans
            if start <= one.end_line and end >= one.start_line
        ]
    texts = [f"{start}-{end}" if end > start else str(start) for start, end in spans]
    return ",".join(texts[:_SPANS_SHOWN]) + (",..." if len(texts) > _SPANS_SHOWN else "")


_SPANS_SHOWN = 5


def _texts(data: bytes) -> bytes:
    return decode(data) if data.startswith(_WIDE) else data
