"""What a text has to have to be a stack trace: asked of every query, before a trace is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from codelens.store.views.views import FileRow

_SIGNS = (
    "at ", 'File "', ".go:", ".rb:", ".py:", ".ex", ".lua:", "panicked", "#0", "#1", "Uncaught",
    "@http", "@file", "@webpack", ".java:", ".kt:", ".scala:", ".groovy:",
)  # fmt: skip


def may_be_trace(text: str) -> bool:
    """Whether a closer look is worth it; nearly every query ends here."""
    return any(sign in text for sign in _SIGNS)


# Places as they are typed and pasted: paths with lines, ranges, names behind them; pure text.
#
# `src/a.py:120`, `a.py#L10-L20`, `C:\src\a.cs(12,5)`, `b/src/a.go` of a diff, pytest's
# `tests/test_a.py::TestA::test_b[1]`, codelens' own `src/a.py#A.b`, links to a file on a forge.

_MAX_TOKEN = 1000


class Location(NamedTuple):
    """A path, and what was said of where in it."""

    path: str
    """`/` between its parts, otherwise as typed."""
    line: int = 0
    """0 for none."""
    last: int = 0
    """The last line of a range; `line` where one line is named."""
    names: tuple[str, ...] = ()
    """Definitions named behind the path, outermost first."""
    is_certain: bool = False
    """It can be nothing but a path: a folder is named, or a line."""


# Possessive where a long token of one kind of character would be tried again from each place.
_PATH = re.compile(
    r"(?:[A-Za-z]:)?[\w.@+~-]*+(?:[/\\][\w.@+~\[\]()$ -]*[\w.@+~\[\]()$-])+/?|"
    r"[\w.@+~-]+/|[\w@+~-][\w.@+~-]*\.[A-Za-z]\w{0,9}|"
    r"\.?(?:Dockerfile|Makefile|Gemfile|Rakefile|Procfile|Vagrantfile|Jenkinsfile|[a-z]+(?:ignore|rc))"
)
_LINES = re.compile(
    r"(?P<path>.+?)(?:"
    r":(?P<a>\d{1,7})(?:[-:](?P<b>\d{1,7})(?:[:.]\d+)?)?"
    r"|\#L(?P<c>\d{1,7})(?:C\d+)?(?:-L?(?P<d>\d{1,7})(?:C\d+)?)?"
    r"|\((?P<e>\d{1,7})(?:,\d{1,7})?\)"
    r'|"?,? (?:on |at )?lines? (?P<f>\d{1,7})(?:(?:-| to )(?P<g>\d{1,7}))?'
    r"):?"
)
_COLUMN = re.compile(r":\d{1,7}:\d{1,7}$")
_NODE = re.compile(r"(?P<path>[^:#]+\.\w{1,10})(?:::|#)(?P<names>[^\W\d][^/\\]*)")
_PARAMETERS = re.compile(r"\[.*$|\(.*$")
_FORGE = re.compile(
    r"https?://[^/\s]+/[^\s]+?/(?:-/)?(?:blob|tree|raw|src|blame|edit)/(?:branch/|commit/)?[^/\s]+/(\S+)"
)
_SCHEME = re.compile(r"(?:file|webpack|webpack-internal|vscode|https?)://(?:[^/\s]*/)?")
_DIFF = re.compile(r"(?:diff --git |\+\+\+ |--- |rename (?:from|to) |copy (?:from|to) )(\S+).*")
_QUOTES = "`'\",;!?<>"


def whole(text: str) -> Location | None:
    """The place that all of a query is; None if it is something else."""
    text = text.strip()
    if len(text) > _MAX_TOKEN or "\n" in text:
        return None
    diff = _DIFF.fullmatch(text)
    if diff:
        location = _token(diff[1])
        return location._replace(is_certain=True) if location else None
    return _token(text)


def inside(text: str) -> tuple[Location, ...]:
    """The places that stand among other words, each once."""
    locations = (_token(word) for word in text.split() if len(word) <= _MAX_TOKEN)
    return tuple(dict.fromkeys(location for location in locations if location is not None))


def _token(token: str) -> Location | None:
    token = token.strip().strip(_QUOTES)
    token = token.rstrip(".") if not token.endswith("..") else token
    forge = _FORGE.match(token)
    token = forge[1] if forge else _SCHEME.sub("", token, count=1)
    token = token.split("?", 1)[0] if "/" in token else token
    lines = _LINES.fullmatch(token)
    if lines:
        return _with_lines(token, lines)
    node = _NODE.fullmatch(token)
    if node and _PATH.fullmatch(node["path"]):
        text = _PARAMETERS.sub("", node["names"])
        names = tuple(part for part in re.split(r"::|\.|#", text) if part)
        return Location(_slashes(node["path"]), names=names, is_certain=True) if names else None
    bare = token.strip("()[]{}") if not _PATH.fullmatch(token) else token
    if not _PATH.fullmatch(bare):
        return None
    path = _slashes(bare)
    return Location(path, is_certain="/" in path and " " not in path)


def _with_lines(token: str, match: re.Match[str]) -> Location | None:
    path = match["path"].strip(_QUOTES + "([")
    if not _PATH.fullmatch(path):
        return None
    groups = [match[key] for key in "acef"]
    first = int(next(group for group in groups if group))
    last = int(next((match[key] for key in "bdg" if match[key]), first))
    if last < first or _COLUMN.search(token):
        last = first  # `a.py:12:5` names a column
    return Location(_slashes(path), first, last, is_certain=first > 0)


def _slashes(path: str) -> str:
    return path.replace("\\", "/")


# Which files of a view a path means that was written elsewhere: the longest common end decides.
#
# A trace or a link names files as they lay on another machine, a diff with `a/` before them, a
# build below another folder. What is sure is the end of the path.


class Ending(NamedTuple):
    """The files whose paths have most of their end in common with one path."""

    files: Sequence[FileRow]
    """Shortest path first; empty if none is called so."""
    common: int
    """Folders and name that agree, counted from the end."""
    whole: bool
    """All of the path, or all of the file's, agrees: not only a part of both."""
    all_of_it: bool
    """All of the path as it was written agrees."""


NONE = Ending((), 0, whole=False, all_of_it=False)


def parts_of(path: str) -> tuple[bytes, ...]:
    """Folders and name of a path, without what only says where the root is."""
    text = path.replace("\\", "/")
    if text[1:3] == ":/":
        text = text[3:]
    parts: list[bytes] = []
    for part in text.encode("utf-8", "replace").split(b"/"):
        if part == b"..":
            parts.clear()
        elif part not in {b"", b".", b"~"}:
            parts.append(part)
    return tuple(parts)


class Ends:
    """Answers for a few paths after one walk over the files."""

    def __init__(self, files: Iterable[FileRow], paths: Iterable[str]) -> None:
        last_parts = {parts[-1].lower() for path in paths if (parts := parts_of(path))}
        self._called: dict[bytes, list[FileRow]] = {}
        for file in files if last_parts else ():
            name = file.path[file.path.rfind(b"/") + 1 :].lower()
            if name in last_parts:
                self._called.setdefault(name, []).append(file)

    def find(self, path: str) -> Ending:
        """The files that `path` means best; by exact case, else by any."""
        parts = parts_of(path)
        if not parts:
            return NONE
        known = self._called.get(parts[-1].lower(), ())
        ending = _longest(known, parts)
        if ending.common:
            return ending
        folded = tuple(part.lower() for part in parts)
        return _longest(known, folded, fold=True)


def _longest(files: Iterable[FileRow], parts: Sequence[bytes], *, fold: bool = False) -> Ending:
    best: list[FileRow] = []
    rank = (0, False, False)
    for file in files:
        own = (file.path.lower() if fold else file.path).split(b"/")
        common = 0
        while common < min(len(own), len(parts)) and own[-1 - common] == parts[-1 - common]:
            common += 1
        here = (common, common in {len(own), len(parts)}, common == len(own) == len(parts))
        if common and here >= rank:
            best = [*(best if here == rank else []), file]
            rank = here
    best.sort(key=lambda file: (len(file.path), file.path))
    return Ending(tuple(best), rank[0], rank[1], rank[0] == len(parts))
