"""The frames of a stack trace in a view: which files they are, and what stands there."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from codelens.plurals import count_of
from codelens.rank.pasted import location_context
from codelens.rank.pasted.location_context import Spot
from codelens.rank.pasted.path_suffixes import Ending, Ends
from codelens.rank.pasted.stack_traces import Frame, Trace
from codelens.rank.query import query_names
from codelens.rank.query.query_analysis import Name
from codelens.rank.query.search_filters import Filters
from codelens.rank.search_request import Ranked, Request
from codelens.store.facts.ranking_reads import Definition
from codelens.store.facts.symbol_keys import key_of
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow

_PACKAGES = re.compile(
    r".*(?:/|^)(?:site-packages|dist-packages|lib/python\d[.\d]*|lib/ruby/\d[.\d]*|usr/local/go/src"
    r"|\.m2/repository|rustc/[0-9a-f]+)/"
)
"""Folders of libraries; the rest of the path begins with the library's own name."""
_VERSIONED = re.compile(
    r".*(?:/|^)(?:node_modules/(?:@[^/]+/)?[^/]+|gems/[^/]+-\d[^/]*|\.cargo/registry/src/[^/]+/[^/]+"
    r"|go/pkg/mod/[^@]+@[^/]+|vendor/[^/]+/[^/]+)/"
)
"""The rest of the path begins inside the library: its name is lost."""
_RUNTIME = re.compile(r"<|node:|internal/|\[native code\]|native$|ruby:|kernel:")
_SCHEME = re.compile(r"[a-z][\w.+-]*://(?:[^/]*:\d+|localhost|[\w-]+(?:\.[\w-]+)+)?/?")
_FILES_COMPARED = 20
_TELLING = 4
"""So many folders and a name that agree tell a library without its own name."""
_TOP = 10.0
"""The score of the innermost frame here; each further one has a little less."""
_STEP = 0.01


class Placed(NamedTuple):
    """The frames that are here."""

    results: list[Ranked]
    """Innermost first, each place once."""
    here: int
    """How many of the frames lie in files of the view; places may be fewer."""
    total: int


def place(
    view: Snapshot,
    trace: Trace,
    request: Request,
    filters: Filters,
    read: Callable[[FileRow], bytes | None],
) -> Placed:
    """Find the frames of a trace in a view; what lies in libraries is left out."""
    paths = {frame.path: _own(frame.path) for frame in trace.frames if frame.path}
    ends = Ends(view.files, [path for path, _ in paths.values()])
    ranked: list[Ranked] = []
    seen: set[tuple[int, int, int]] = set()
    here = 0
    for number, frame in enumerate(trace.frames):
        path, trust = paths.get(frame.path, ("", ""))
        known = _file(view, frame, ends.find(path), trust)
        places = _spots(view, known, frame) if known else _by_name(view, frame)
        places = [spot for spot in places if not filters.active or filters.keep([spot[0]])]
        here += bool(places)
        for file, spot, reason in places[:1]:
            key = (file.path_id, spot.start, spot.end)
            if key in seen:
                continue
            seen.add(key)
            shares = {"frame": _TOP - _STEP * len(ranked)}
            line = location_context.line_of(read(file), frame.line) if spot.symbol < 0 else ""
            why = f"frame {number + 1}: {reason}"
            result = location_context.shown(view, file, spot, why, line=line, shares=shares)
            ranked.append(result if request.explain else result._replace(explain={}))
    return Placed(ranked, here, len(trace.frames))


def summary(trace: Trace, placed: Placed) -> str:
    """A sentence on what was understood."""
    total = count_of(placed.total, "frame")
    if not placed.here:
        return f"a stack trace ({trace.kind}): none of its {total} is in this worktree"
    if placed.total == 1:
        return f"a stack trace ({trace.kind}): its frame is in this worktree"
    verb = "is" if placed.here == 1 else "are"
    return f"a stack trace ({trace.kind}): {placed.here} of {total} {verb} in this worktree"


def _own(path: str) -> tuple[str, str]:
    """The path of a frame as a repository may have it, and how far it can be trusted.

    `` for a path of no library; `package` where it begins with a library's name: it counts where
    the view is that library; `function` where even that is lost: a function must agree as well.
    """
    if _RUNTIME.match(path):
        return "", ""
    path = _SCHEME.sub("", path).split("?", 1)[0]
    for trust, form in (("function", _VERSIONED), ("package", _PACKAGES)):
        library = form.match(path)
        if library:
            return path[library.end() :], trust
    return path, ""


def _file(view: Snapshot, frame: Frame, ending: Ending, trust: str) -> FileRow | None:
    """The file that a frame lies in; the one that has its function where several may be it."""
    if not ending.common or (trust and not ending.all_of_it):
        return None
    owners = [part for part in frame.name.split(".") if part]
    having = [
        file for file in ending.files[:_FILES_COMPARED] if _has(view, file, frame, owners, ending)
    ]
    if having:
        return having[0]
    if trust == "function" and ending.common < _TELLING:
        return None
    sure = ending.common > 1 or (ending.whole and not trust)
    return ending.files[0] if sure and len(ending.files) == 1 else None


def _has(
    view: Snapshot, file: FileRow, frame: Frame, owners: Sequence[str], ending: Ending
) -> bool:
    """Whether a file has the frame's function; around its line where the path says too little."""
    called = location_context.named(view, file, owners) if owners else []
    return bool(called) and (ending.common > 1 or ending.whole or _around_line(called, frame.line))


def _spots(view: Snapshot, file: FileRow, frame: Frame) -> list[tuple[FileRow, Spot, str]]:
    """Where in a file a frame is: at its line, unless its function has moved since."""
    owners = frame.name.split(".") if frame.name else []
    called = location_context.named(view, file, owners)
    spot = location_context.at_line(view, file, frame.line)
    lies = f"line {frame.line}" + (f", in {spot.inside}" if spot and spot.inside else "")
    if called and not _around_line(called, frame.line):
        near = min(called, key=lambda definition: abs(definition.start_line - frame.line))
        moved = f"{near.name}, not at line {frame.line} now" if frame.line else near.name
        return [(file, Spot(near.start_line, near.end_line, near.ordinal, near.name), moved)]
    if spot is None:
        return []
    return [(file, spot, lies)]


def _around_line(called: Sequence[Definition], line: int) -> bool:
    return any(definition.start_line <= line <= definition.end_line for definition in called)


def _by_name(view: Snapshot, frame: Frame) -> list[tuple[FileRow, Spot, str]]:
    """A frame without a path, by a name with its owner that only one place has."""
    parts = tuple(frame.name.split("."))
    if frame.path or len(parts) < 2:
        return []
    definitions = [
        definition
        for definition in query_names.defined(view, [Name(frame.name, parts)])
        if definition.grade == query_names.EXACT
        and key_of(definition.symbol.name) == key_of(parts[-1])
    ]
    if len(definitions) != 1:
        return []
    symbol = definitions[0].symbol
    spot = Spot(symbol.start_line, symbol.end_line, symbol.ordinal, symbol.name)
    return [(definitions[0].file, spot, "by its name")]
