"""Finds a definition in an earlier version of its file, or in another file, with little parsing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from codelens.branches.code_tokens import is_comment_line, is_indented
from codelens.branches.definition_matcher import Matches
from codelens.branches.file_definitions import Definition, FileDefinitions, FileText, Lines
from codelens.extract.language_settings import TEXT, language_info
from codelens.scope.commit_walk import CommitWalk
from codelens.scope.text_diff import LineChange, changed_lines
from codelens.scope.tree_changes import GITLINK, EntryChange
from codelens.types import Symbol

_MARKS = (b"@", b"#[", b"[", b"template")
"""Beginnings of lines that belong to the definition below: decorators, attributes, template
heads."""
_AHEAD = 2_000
_TEXT_LINE = re.compile(rb"[^\n]*\S[^\n]*")
_NO_LINE = frozenset({b"", b"\n"})
"""What may precede the first of some whole lines, and follow the last."""


def unix_lines(data: bytes) -> bytes:
    """Convert line ends as git stores them, without carriage returns."""
    # Searching one byte takes a tenth of the time of two.
    return data.replace(b"\r\n", b"\n") if b"\r" in data else data


def lines_of(data: bytes, text: bytes) -> Lines | None:
    """Return the first and last line (1-based) of some lines; None unless they occur once."""
    plain = b"\n" + unix_lines(data) + b"\n"
    block = b"\n" + text + b"\n"
    at = plain.find(block)
    if at < 0 or plain.find(block, at + 1) >= 0:
        return None
    first = plain.count(b"\n", 0, at) + 1
    return first, first + text.count(b"\n")


def whole_text(symbol: Definition) -> bytes:
    """Return all lines of a definition, including the comments above it."""
    if symbol.inline:
        return b"\n".join(symbol.file.lines[symbol.symbol.start_line - 1 : symbol.symbol.end_line])
    return b"\n".join(symbol.file.lines[symbol.start : symbol.stop])


def holds(data: bytes, text: bytes) -> bool:
    """Whether a file contains some lines unchanged."""
    return _position(unix_lines(data), text) >= 0


def _position(plain: bytes, text: bytes) -> int:
    """Return where some whole lines begin in a file; -1 if they do not occur."""
    # A copy with a line end on both sides would cost more than the search.
    at = plain.find(text)
    while at >= 0:
        end = at + len(text)
        if plain[at - 1 : at] in _NO_LINE and plain[end : end + 1] in _NO_LINE:
            return at
        at = plain.find(text, at + 1)
    return -1


def has_same_definition(data: bytes, text: bytes, known: bytes, language: str) -> bool:
    """Whether a version of a file has the same whole definition as another version.

    The lines alone may be part of a longer definition: below a decorator or comment that was
    removed since, or before more lines of its body.

    Args:
        data: the version.
        text: all lines of the definition.
        known: a version in which these are all its lines.
        language: what the file is written in.
    """
    return has_passage(unix_lines(data), passage_in(unix_lines(known), text), language)


class Passage(NamedTuple):
    """All lines of a definition, with the line above them and the next non-blank line below."""

    text: bytes
    above: bytes
    below: bytes


def passage_in(plain: bytes, text: bytes) -> Passage:
    """Return the lines of a definition with their neighbours in a version (`unix_lines`)."""
    return Passage(text, *_neighbours(plain, text, _position(plain, text)))


def has_passage(plain: bytes, passage: Passage, language: str) -> bool:
    """See `has_same_definition`; for many versions and definitions, whose lines are prepared."""
    text = passage.text
    at = _position(plain, text)
    if at < 0:
        return False
    above, below = _neighbours(plain, text, at)
    if (above, below) == passage[1:]:
        return True
    bare = above.strip()
    if is_comment_line(above, language) or bare.startswith(_MARKS):
        return False
    return not is_indented(language) or not below or _text_depth(below) <= _text_depth(text)


def _neighbours(plain: bytes, text: bytes, at: int) -> tuple[bytes, bytes]:
    """Return the line above some lines at a position, and the next non-blank line below them."""
    above = plain[plain.rfind(b"\n", 0, at - 1) + 1 : at - 1] if at > 0 else b""
    rest = plain[at + len(text) + 1 : at + len(text) + 1 + _AHEAD]
    below = _TEXT_LINE.search(rest)
    return above, below[0] if below else b""


def _text_depth(text: bytes) -> int:
    return len(text) - len(text.lstrip(b" \t"))


# Parses a definition in an earlier version of its file from only the lines that became it.
#
# Parsing a file takes tens of milliseconds, parsing fifty lines one or two, and a history reads one
# version per change. The result is the same as from the whole file: the surrounding lines are equal
# in both versions, so the definition starts and ends within the lines that the differences map to
# it. If that is uncertain, there is no result and the whole file is parsed.

ReadSnippet = Callable[[bytes, bytes, str], FileText]
"""Parses bytes of a path and language to definitions."""

_LARGEST_SHARE = 0.5
"""The largest share of a file to parse alone: a larger part saves nothing over the whole file."""
_CLOSING = re.compile(rb"[)\]}{]|(?:public|private|protected|internal)\s*:|#")
"""Lines with less indentation than the members below that nevertheless do not name their owner."""
_WORD = re.compile(rb"\w+")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z")


class EarlierVersion(NamedTuple):
    """A version of a file, and the next version with the known definition."""

    path: bytes
    old: Sequence[bytes]
    """Lines of the version."""
    new: Lines
    """Lines of the definition in the newer version, including the comments above it."""
    hunks: Sequence[LineChange]
    """Differing lines of the two versions."""


def earlier_definition(
    version: EarlierVersion, later: Definition, read: ReadSnippet
) -> Definition | None:
    """Return the earlier definition; None if that requires parsing the whole file."""
    span = _lines_before(version, later.file.language)
    if span is None:
        return None
    start, stop = span
    lines, language = version.old, later.file.language
    while start > 0 and is_comment_line(lines[start - 1], language):
        start -= 1
    body = lines[start:stop]
    if not any(line.strip() for line in body) or len(body) > _LARGEST_SHARE * len(lines):
        return None
    wrapper = _wrapper(later, body)
    if wrapper is None:
        return None
    before, after = wrapper
    wrapped = b"\n".join([*before, *body, *after]) + b"\n"
    text = read(version.path, wrapped, language)
    outer = _outer_names(text.symbols, later)
    if outer is None or not has_owners_above(lines, start, later.owner):
        return None
    symbols = [symbol._replace(qualified=outer + symbol.qualified) for symbol in text.symbols]
    file = FileDefinitions(text._replace(symbols=symbols))
    definitions = [
        definition
        for definition in file.definitions
        if definition.symbol.qualified == later.symbol.qualified
    ]
    if len(definitions) != 1:
        return None
    (definition,) = definitions
    last = len(before) + len(body)
    whole = definition.start >= len(before) and definition.stop <= last
    if not whole or definition.group != later.group:
        return None
    if is_indented(language) and _goes_on(definition, lines[start:], len(before)):
        return None
    return definition


def _lines_before(version: EarlierVersion, language: str) -> tuple[int, int] | None:
    """Return the 0-based, half-open range of lines that became the definition.

    The range includes each difference as a whole. None if no difference touches the definition, or
    if one includes its last line: then more lines may have belonged to it. If indentation defines
    blocks, `_goes_on` checks that.
    """
    start, stop = version.new[0] - 1, version.new[1]
    offset = 0
    first: tuple[int, int] | None = None
    last = (0, 0)
    for hunk in version.hunks:
        old = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        new = hunk.new_start - 1 if hunk.new_lines else hunk.new_start
        if new + hunk.new_lines < start:
            offset = old + hunk.old_lines - new - hunk.new_lines
        elif new > stop:
            break
        else:
            first = first or (old, new)
            last = (old + hunk.old_lines, new + hunk.new_lines)
    if first is None:
        return None
    begin = first[0] if first[1] <= start else start + offset
    end = last[0] if last[1] >= stop else stop + last[0] - last[1]
    is_end_known = last[1] < stop or is_indented(language)
    return (begin, end) if is_end_known else None


def _wrapper(later: Definition, body: Sequence[bytes]) -> tuple[list[bytes], list[bytes]] | None:
    """Return lines that wrap members into a valid text of their language; None if impossible."""
    info = language_info(later.file.language or TEXT)
    opening = [info.text_opening.encode()] if info.text_opening else []
    head = next(line for line in body if line.strip())
    owner = later.owner.rpartition(".")[2]
    if head[:1] not in {b" ", b"\t"} or not owner or not _IDENTIFIER.match(owner):
        return opening, []
    if info.indented and not info.type_wrapper:
        return None
    before, after = info.type_wrapper[:1], info.type_wrapper[1:]
    return [*opening, *(line.replace("{}", owner).encode() for line in before)], [
        line.encode() for line in after
    ]


def _outer_names(symbols: Sequence[Symbol], later: Definition) -> str | None:
    """Return the prefix that qualified names in a part lack; None if it lacks the definition."""
    qualified = later.symbol.qualified
    for symbol in symbols:
        outer = qualified.removesuffix(symbol.qualified)
        if symbol.name == later.name and outer != qualified and outer[-1:] in {"", "."}:
            return outer
    return None


def has_owners_above(lines: Sequence[bytes], start: int, owner: str) -> bool:
    """Whether the lines above, by indentation, show all owners of the text at a line."""
    depth = _depth(next(line for line in lines[start:] if line.strip()))
    names = [name.encode("utf-8", "replace") for name in owner.split(".") if name]
    at = start
    while names and depth > 0:
        at -= 1
        if at < 0:
            return False
        if not lines[at][:depth].strip():
            continue
        bare = lines[at].strip()
        if _CLOSING.match(bare):
            depth = _depth(lines[at]) + 1  # a head of several lines starts above
            continue
        if names.pop() not in _WORD.findall(bare):
            return False
        depth = _depth(lines[at])
    # Unindented text may name its owner itself, or be in a namespace.
    return all(any(name in line for line in lines) for name in names)


def _depth(line: bytes) -> int:
    return len(line) - len(line.lstrip())


def _goes_on(definition: Definition, lines: Sequence[bytes], wrapped: int) -> bool:
    """Whether the next code line is indented more than the definition."""
    head = definition.file.lines[definition.symbol.start_line - 1]
    depth = _depth(head)
    for line in lines[definition.stop - wrapped :]:
        bare = line.lstrip()
        if bare and not bare.startswith(b"#"):
            return _depth(line) > depth
    return False


# Finds an earlier definition by the lines that a change removed, in its file or another one.
#
# Parsing and matching the files of a commit costs much more than reading them. So this first looks
# at removed lines: an earlier definition must have left its old place, or the new one is a copy,
# and a match by similarity needs at least half of the words
# (`codelens.branches.definition_matcher`).

_LEAST_SHARE = 0.5
_LEAST_SHARE_OF_NAMED = 0.25
"""The least share of removed words if the name was removed too: then the definition may have
changed more.
"""
_LEAST_SHARE_OF_LINES = 0.2
"""This share of lines must match, at any indentation: a large file has most words anyway."""
_FEW_LINES = 3
_MOST_ORIGINS = 4
"""Maximum number of files of one commit to search for a definition that is new in its file."""
_HEAD_BYTES = 8000


class Origin(NamedTuple):
    """Another file that a commit or an uncommitted change affects: a possible origin."""

    path: bytes
    blob: bytes
    data: bytes
    now: bytes | None
    """The file after the commit; None if it was removed."""


def changed_files(walk: CommitWalk, changes: Iterable[EntryChange]) -> Iterator[Origin]:
    """Yield the files that a commit changed and that existed before."""
    for change in changes:
        data = walk.blob(change.old.oid) if change.old is not None else None
        if change.old is None or data is None:
            continue
        gone = change.new is None or change.new.mode == GITLINK
        now = walk.blob(change.new.oid) if change.new is not None and not gone else None
        yield Origin(change.path, change.old.oid, data, now)


def origins_of(files: Iterable[Origin], text: bytes, later: Definition) -> list[Origin]:
    """Return other files of a commit that may have had a definition, most likely ones first.

    Args:
        files: the files that the commit changed.
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
    """Find a definition in an earlier version of its file."""
    return _same_name(old, new) or Matches([old], [new.file]).old_of.get(new)


def _same_name(old: FileDefinitions, new: Definition) -> Definition | None:
    """Return the only definition with the same name in the file, as the matcher does."""
    name = new.symbol.qualified
    if sum(definition.symbol.qualified == name for definition in new.file.definitions) != 1:
        return None
    same = [definition for definition in old.definitions if definition.symbol.qualified == name]
    return same[0] if len(same) == 1 else None


def may_stem_from(old: bytes, new: bytes, definition: Definition) -> bool:
    """Whether an earlier version of a file may contain the earlier definition.

    Args:
        old: the earlier version.
        new: the version with the definition.
        definition: the definition in the new version; its line numbers may be relative to a part.
    """
    name = definition.name.encode("utf-8", "replace")
    head = definition.file.lines[definition.symbol.name_line - 1].strip()
    removed, added = _changed(old, new)
    if head not in added:
        return True  # its first line existed before
    if name in _WORD.findall(b"\n".join(removed)):
        return True
    unchanged = [line for line in _own_lines(definition) if line not in added]
    return _share(definition, [*removed, *unchanged]) >= _LEAST_SHARE


def share_removed(old: bytes, new: bytes | None, definition: Definition) -> float:
    """Return the share of a definition's words that a change of another file removed.

    Args:
        old: the other file before the change.
        new: the other file after it; None if removed.
        definition: the definition that may have been in it.

    Returns:
        0 if the share is too small.
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
    """Return the share of a definition's words in some lines; 0 if too few lines match."""
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
    """Return the lines that a change removed, and the lines that it added."""
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
