"""Resolves lines and stack frames to places of a view."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from codelens.rank.pasted.pasted_locations import Ending, Ends
from codelens.rank.pasted.stack_traces import Frame, Trace
from codelens.rank.query import query_analysis
from codelens.rank.query.query_analysis import Name
from codelens.rank.scoring import body_terms
from codelens.rank.search_request import Ranked
from codelens.rank.search_state import SearchState
from codelens.store.facts import ranking_reads as reads
from codelens.store.facts.ranking_reads import Definition
from codelens.store.facts.resolution_facts import key_of
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow
from codelens.wording import count_of

CLOSE_LINES = 80
"""If a definition is longer, only the relevant part is shown."""
_BEFORE, _AFTER = 10, 20
_MOST_COMMENT = 40
"""Maximum length of a comment in lines."""
_NAMED, _NAMED_ALIKE = 4, 2
_LINE_CHARS = 300


class Spot(NamedTuple):
    """Lines of a file."""

    start: int
    end: int
    symbol: int
    """Position of the definition that these lines contain, -1 if none."""
    inside: str
    """Name of the enclosing definition; empty if none."""


def at_line(
    view: Snapshot, file: FileRow, first: int, last: int = 0, text: bytes | None = None
) -> Spot | None:
    """Return the innermost definition around some lines; a part of it if it is long.

    The comment right above a definition belongs to it if the file's `text` is given. None if the
    file has no such line.
    """
    if file.content is None:
        return None
    last = max(first, last)
    lines = view.about([file.content])[file.content].lines
    if not 0 < first <= max(lines, 1):
        return None
    last = min(last, max(lines, 1))
    own = reads.definitions(view.db, [file.content]).get(file.content, ())
    described = _described(own, text, first, last)
    if described is not None:
        return Spot(described.start_line, described.end_line, described.ordinal, described.name)
    around = [
        definition
        for definition in own
        if definition.start_line <= first and last <= definition.end_line
    ]
    inner = min(
        around,
        key=lambda definition: (definition.end_line - definition.start_line, -definition.ordinal),
        default=None,
    )
    # The owner is more informative than a field or key on the line itself.
    close = [
        definition
        for definition in around
        if definition.end_line - definition.start_line < CLOSE_LINES
    ]
    whole = [
        definition for definition in close if definition.end_line > definition.start_line
    ] or close
    if whole:
        smallest = min(
            whole, key=lambda symbol: (symbol.end_line - symbol.start_line, -symbol.ordinal)
        )
        return Spot(smallest.start_line, smallest.end_line, smallest.ordinal, smallest.name)
    name = inner.name if inner else ""
    if last > first:
        return Spot(first, last, -1, name)
    for chunk in view.chunks([file.content]).get(file.content, ()):
        if chunk.start_line <= first <= chunk.end_line < chunk.start_line + CLOSE_LINES:
            return Spot(chunk.start_line, chunk.end_line, -1, name)
    return Spot(max(1, first - _BEFORE), min(max(lines, 1), first + _AFTER), -1, name)


def _described(
    own: Sequence[Definition], text: bytes | None, first: int, last: int
) -> Definition | None:
    """Return the definition whose comment, right above it, contains some lines."""
    below = min(
        (definition for definition in own if definition.start_line > last),
        key=lambda definition: (definition.start_line, definition.ordinal),
        default=None,
    )
    if text is None or below is None or below.start_line - first > _MOST_COMMENT:
        return None
    lines = text.decode("utf-8", "replace").split("\n")
    return below if body_terms.comment_start(lines, below.start_line) <= first else None


def named(view: Snapshot, file: FileRow, names: Sequence[str]) -> list[Definition]:
    """Return definitions of a file with `names`, outermost first; owners may be left out.

    Exact spelling beats other conventions; only the best match counts.
    """
    if file.content is None or not names:
        return []
    own = reads.definitions(view.db, [file.content]).get(file.content, [])
    last = key_of(names[-1])
    agreeing = [
        (_agree(own, definition, names), definition)
        for definition in own
        if key_of(definition.name) == last
    ]
    best = max((score for score, _ in agreeing), default=0)
    return [definition for score, definition in agreeing if score == best]


def _agree(own: Sequence[Definition], definition: Definition, names: Sequence[str]) -> int:
    """Count matching names from the last one outwards; exact ones count more than conventions."""
    score = 0
    at: Definition | None = definition
    for name in reversed(names):
        if at is None or key_of(at.name) != key_of(name):
            break
        score += _NAMED if at.name == name else _NAMED_ALIKE
        at = own[at.parent] if 0 <= at.parent < len(own) else None
    else:
        # All names and all owners matched.
        score += at is None
    return score


def line_of(text: bytes | None, number: int) -> str:
    """Return a line of a text, stripped and truncated; empty if it does not exist."""
    lines = (text or b"").split(b"\n", number)
    if not 0 < number <= len(lines):
        return ""
    return lines[number - 1][: 4 * _LINE_CHARS].decode("utf-8", "replace").strip()[:_LINE_CHARS]


def shown(
    view: Snapshot, file: FileRow, spot: Spot, why: str, line: str = "", *,
    shares: Mapping[str, float], explain: bool = True,
) -> Ranked:  # fmt: skip
    """Return a spot as a result; its score is the sum of `shares`, its line the signature.

    `line` is shown if the spot is not a definition.
    """
    if spot.symbol >= 0 and file.content is not None:
        line = reads.signature(view.db, file.content, spot.symbol)
    return Ranked(
        file, spot.start, spot.end, "symbol" if spot.symbol >= 0 else "chunk", spot.symbol,
        sum(shares.values()), why, line, shares if explain else {},
    )  # fmt: skip


# Finds the frames of a stack trace in a view.

_PACKAGES = re.compile(
    r".*(?:/|^)(?:site-packages|dist-packages|lib/python\d[.\d]*|lib/ruby/\d[.\d]*|usr/local/go/src"
    r"|\.m2/repository|rustc/[0-9a-f]+)/"
)
"""Folders of libraries; the rest of the path starts with the library's name."""
_VERSIONED = re.compile(
    r".*(?:/|^)(?:node_modules/(?:@[^/]+/)?[^/]+|gems/[^/]+-\d[^/]*|\.cargo/registry/src/[^/]+/[^/]+"
    r"|go/pkg/mod/[^@]+@[^/]+|vendor/[^/]+/[^/]+)/"
)
"""The rest of the path starts inside the library, so the library's name is lost."""
_BUILT = re.compile(
    r"(?:.*/)?(?:dist|build|out|lib)/(?:(?:esm|cjs|es|mjs|src)/)?(?P<rest>[^/].*)\.[cm]?js$"
)
"""A file that a build wrote; its source has the same name in `src`, and other lines."""
_RUNTIME = re.compile(r"<|node:|internal/|\[native code\]|native$|ruby:|kernel:")
_SCHEME = re.compile(r"[a-z][\w.+-]*://(?:[^/]*:\d+|localhost|[\w-]+(?:\.[\w-]+)+)?/?")
_FILES_COMPARED = 20
_TELLING = 4
"""This many matching folders and names identify a library without its name."""
_TOP = 10.0
"""Score of the innermost frame in the view; it decreases with each further frame."""
_STEP = 0.01


class Placed(NamedTuple):
    """The frames that are in the view."""

    results: list[Ranked]
    """Places, innermost first, each once."""
    here: int
    """Number of frames in files of the view; there may be fewer places."""
    total: int


def place_frame(state: SearchState, trace: Trace) -> Placed:
    """Find the frames of a trace in a view; frames in libraries are left out."""
    view = state.view
    paths = {frame.path: _repository_path(frame.path) for frame in trace.frames if frame.path}
    sources = {path: _source(path) for path, _ in paths.values()}
    ends = Ends(view.files, [*sources, *sources.values()])
    ranked: list[Ranked] = []
    seen: set[tuple[int, int, int]] = set()
    here = 0
    for number, frame in enumerate(trace.frames):
        path, trust = paths.get(frame.path, ("", ""))
        frame_file = _file(view, frame, ends.find(path), trust)
        if frame_file is None and frame.name:
            frame_file = _file(view, frame, ends.find(sources.get(path, "")), "source")
        places = _spots(view, frame_file, frame) if frame_file else _by_name(view, frame)
        places = [spot for spot in places if not state.keep or state.keep([spot[0]])]
        here += bool(places)
        for file, spot, reason in places[:1]:
            key = (file.path_id, spot.start, spot.end)
            if key in seen:
                continue
            seen.add(key)
            shares = {"frame": _TOP - _STEP * len(ranked)}
            line = line_of(state.read(file), frame.line) if spot.symbol < 0 else ""
            why = f"frame {number + 1}: {reason}"
            ranked.append(
                shown(view, file, spot, why, line, shares=shares, explain=state.request.explain)
            )
    return Placed(ranked, here, len(trace.frames))


def trace_summary(trace: Trace, placed: Placed) -> str:
    """Return a sentence about the parsed trace."""
    total = count_of(placed.total, "frame")
    if not placed.here:
        return f"a stack trace ({trace.kind}): none of its {total} is in this worktree"
    if placed.total == 1:
        return f"a stack trace ({trace.kind}): its frame is in this worktree"
    verb = "is" if placed.here == 1 else "are"
    return f"a stack trace ({trace.kind}): {placed.here} of {total} {verb} in this worktree"


def _repository_path(path: str) -> tuple[str, str]:
    """Return the path of a frame as a repository may have it, and what must confirm the path.

    The second text is empty for a path outside of libraries. It is `package` for a path that starts
    with the name of a library, because the view must be that library; and `function` for a path
    inside a library whose name is lost, because a function must match as well.
    """
    if _RUNTIME.match(path):
        return "", ""
    path = _SCHEME.sub("", path).split("?", 1)[0]
    for trust, form in (("function", _VERSIONED), ("package", _PACKAGES)):
        library = form.match(path)
        if library:
            return path[library.end() :], trust
    return path, ""


def _source(path: str) -> str:
    """Return the path of the source of a built file; empty if it is none."""
    built = _BUILT.match(path)
    return f"src/{built['rest']}.ts" if built else ""


def _file(view: Snapshot, frame: Frame, ending: Ending, trust: str) -> FileRow | None:
    """Return the file of a frame; of several candidates the one with its function."""
    if not ending.common or (trust and not ending.all_of_it):
        return None
    owners = [part for part in frame.name.split(".") if part]
    having = [
        file for file in ending.files[:_FILES_COMPARED] if _has(view, file, frame, owners, ending)
    ]
    if having:
        return having[0]
    if trust == "source" or (trust == "function" and ending.common < _TELLING):
        return None
    sure = ending.common > 1 or (ending.whole and not trust)
    return ending.files[0] if sure and len(ending.files) == 1 else None


def _has(
    view: Snapshot, file: FileRow, frame: Frame, owners: Sequence[str], ending: Ending
) -> bool:
    """Whether a file has the frame's function, near its line if the path is unreliable."""
    called = named(view, file, owners) if owners else []
    return bool(called) and (ending.common > 1 or ending.whole or _around_line(called, frame.line))


def _spots(view: Snapshot, file: FileRow, frame: Frame) -> list[tuple[FileRow, Spot, str]]:
    """Return the places of a frame in a file: its line, unless its function has moved since."""
    owners = frame.name.split(".") if frame.name else []
    called = named(view, file, owners)
    spot = at_line(view, file, frame.line)
    place = f"line {frame.line}" + (f", in {spot.inside}" if spot and spot.inside else "")
    if called and not _around_line(called, frame.line):
        near = min(called, key=lambda definition: abs(definition.start_line - frame.line))
        moved = f"{near.name}, not at line {frame.line} now" if frame.line else near.name
        return [(file, Spot(near.start_line, near.end_line, near.ordinal, near.name), moved)]
    if spot is None:
        return []
    return [(file, spot, place)]


def _around_line(called: Sequence[Definition], line: int) -> bool:
    return any(definition.start_line <= line <= definition.end_line for definition in called)


def _by_name(view: Snapshot, frame: Frame) -> list[tuple[FileRow, Spot, str]]:
    """Find a frame without a path by a qualified name that is unique."""
    parts = tuple(frame.name.split("."))
    if frame.path or len(parts) < 2:
        return []
    definitions = [
        definition
        for definition in query_analysis.defined_names(view, [Name(frame.name, parts)])
        if definition.grade == query_analysis.EXACT
        and key_of(definition.symbol.name) == key_of(parts[-1])
    ]
    if len(definitions) != 1:
        return []
    symbol = definitions[0].symbol
    spot = Spot(symbol.start_line, symbol.end_line, symbol.ordinal, symbol.name)
    return [(definitions[0].file, spot, "by its name")]
