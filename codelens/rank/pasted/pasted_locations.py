"""Recognises pasted locations and possible traces, and finds the files of pasted paths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from codelens.store.views.views import FileRow

_SIGNS = (
    "at ", 'File "', ".go:", ".rb:", ".py:", ".ex", ".lua:", "panicked", "#0", "#1", "Uncaught",
    "@http", "@file", "@webpack", ".java:", ".kt:", ".scala:", ".groovy:",
)  # fmt: skip


def may_be_trace(text: str) -> bool:
    """Whether a text may be a stack trace; rules out nearly every query quickly."""
    return any(sign in text for sign in _SIGNS)


# Parses typed and pasted places: paths with lines, ranges, names; pure text.
#
# Forms are `src/a.py:120`, `a.py#L10-L20`, `C:\src\a.cs(12,5)`, `b/src/a.go` of a diff, pytest's
# `tests/test_a.py::TestA::test_b[1]`, codelens' own `src/a.py#A.b`, links to a file on a forge.

_MAX_TOKEN = 1000


class Location(NamedTuple):
    """A path, and a place in the file."""

    path: str
    """`/` between its parts, otherwise as typed."""
    line: int = 0
    """First line; 0 for none."""
    last: int = 0
    """Last line of a range; `line` for a single line."""
    names: tuple[str, ...] = ()
    """Names of definitions after the path, outermost first."""
    is_certain: bool = False
    """Whether it is certainly a path: it has a folder or a line."""


# Possessive, since a long token of one kind of character would be retried from each place.
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
    """Return the place that is the whole query, else None."""
    text = text.strip()
    if len(text) > _MAX_TOKEN or "\n" in text:
        return None
    diff = _DIFF.fullmatch(text)
    if diff:
        location = _token(diff[1])
        return location._replace(is_certain=True) if location else None
    return _token(text)


def inside(text: str) -> tuple[Location, ...]:
    """Return the places among other words, each once."""
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


# Finds the files of a view for a path from elsewhere, by the longest common end.
#
# A trace or a link has paths of another machine, a diff a leading `a/`, a build another folder.
# Only the end of the path is reliable.


class Ending(NamedTuple):
    """The files whose paths share the longest end with one path."""

    files: Sequence[FileRow]
    """Shortest path first; empty without a matching name."""
    common: int
    """Number of matching path parts, counted from the end."""
    whole: bool
    """The whole path, or the whole path of the file, matches."""
    all_of_it: bool
    """The whole path matches as written."""


NONE = Ending((), 0, whole=False, all_of_it=False)


def parts_of(path: str) -> tuple[bytes, ...]:
    """Return the folders and the name of a path, without the root."""
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
    """Resolves some paths with one pass over the files."""

    def __init__(self, files: Iterable[FileRow], paths: Iterable[str]) -> None:
        last_parts = {parts[-1].lower() for path in paths if (parts := parts_of(path))}
        self._called: dict[bytes, list[FileRow]] = {}
        for file in files if last_parts else ():
            name = file.path[file.path.rfind(b"/") + 1 :].lower()
            if name in last_parts:
                self._called.setdefault(name, []).append(file)

    def find(self, path: str) -> Ending:
        """Return the files that match `path` best; by exact case, else by any."""
        parts = parts_of(path)
        if not parts:
            return NONE
        same_name = self._called.get(parts[-1].lower(), ())
        ending = _longest(same_name, parts)
        if ending.common:
            return ending
        folded = tuple(part.lower() for part in parts)
        return _longest(same_name, folded, fold=True)


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
