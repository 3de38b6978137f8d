"""Files by their path: exact, by its end, by part of it, by glob, by its words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from codelens.extract.tokens import terms_of_text
from codelens.rank.filters import Filters, globs
from codelens.rank.query import Query
from codelens.rank.request import Ranked, Request
from codelens.store import rankreads as reads
from codelens.store.snapshot import Snapshot
from codelens.store.views import FileRow

_GLOB = re.compile(r"[*?]|\[[^\]]+\]|\{[^}]+,[^}]*\}")
_CLOSE_LINES = 80
_SCANNED_WORDS = 16

WHOLE, END, FOLDER, NAME, NAME_START, IN_NAME, IN_PATH, WORDS = (
    8.0,
    7.0,
    6.0,
    5.0,
    4.0,
    3.0,
    2.0,
    1.0,
)
_SAID = {
    WHOLE: "the path",
    END: "the path ends so",
    FOLDER: "in this folder",
    NAME: "the file's name",
    NAME_START: "the name starts so",
    IN_NAME: "in the name",
    IN_PATH: "in the path",
}


def search(view: Snapshot, query: Query, request: Request, filters: Filters) -> list[Ranked]:
    """Files whose path answers, best first; a shorter path before a longer one."""
    text, line = _split(query)
    if _GLOB.search(text):
        wanted = globs([text])
        scored = [(WHOLE, file) for file in view.files if wanted.match(file.path)]
    else:
        scored = _graded(view.files, text)
        if len(scored) < request.limit:
            scored += _by_words(view, query, {file.path_id for _, file in scored})
    return _results(view, scored, line, request, filters)


def named(
    view: Snapshot, path: tuple[str, int], request: Request, filters: Filters
) -> list[Ranked]:
    """Files that a path names in full or by its end, or that lie in a folder named so."""
    text, line = path
    scored = [(grade, file) for grade, file in _graded(view.files, text) if grade >= FOLDER]
    if scored:
        top = max(grade for grade, _ in scored)
        scored = [pair for pair in scored if pair[0] >= END or top == FOLDER]
    return _results(view, scored, line, request, filters)


def _split(query: Query) -> tuple[str, int]:
    if len(query.paths) == 1 and query.token:
        return query.paths[0]
    return query.text.replace("\\", "/"), 0


def _graded(files: Iterable[FileRow], text: str) -> list[tuple[float, FileRow]]:
    """Files whose path has `text`; letter case is ignored unless there are capitals in it."""
    needle = text.removeprefix("./").rstrip("/").encode("utf-8", "replace")
    if not needle:
        return []
    fold = needle == needle.lower()
    found: list[tuple[float, FileRow]] = []
    for file in files:
        path = file.path.lower() if fold else file.path
        if needle in path:
            found.append((_grade(path, needle), file))
    return found


def _grade(path: bytes, needle: bytes) -> float:
    if path == needle:
        return WHOLE
    if path.endswith(b"/" + needle):
        return END
    if path.startswith(needle + b"/") or b"/" + needle + b"/" in path:
        return FOLDER
    name = path[path.rfind(b"/") + 1 :]
    if name.split(b".")[0] == needle:
        return NAME
    if name.startswith(needle):
        return NAME_START
    return IN_NAME if needle in name else IN_PATH


def _by_words(view: Snapshot, query: Query, known: set[int]) -> list[tuple[float, FileRow]]:
    """Files by the share of the query's words in stem and folders."""
    terms = list(dict.fromkeys(terms_of_text(query.text)))[:_SCANNED_WORDS]
    counts: dict[int, int] = {}
    files: dict[int, FileRow] = {}
    for term in terms:
        for file in view.paths_with_term(term):
            if file.path_id not in known:
                counts[file.path_id] = counts.get(file.path_id, 0) + 1
                files[file.path_id] = file
    return [(WORDS * count / len(terms), files[number]) for number, count in counts.items()]


def _results(
    view: Snapshot,
    scored: Sequence[tuple[float, FileRow]],
    line: int,
    request: Request,
    filters: Filters,
) -> list[Ranked]:
    ordered = sorted(scored, key=lambda one: (-one[0], len(one[1].path), one[1].path))
    kept = {file.path_id for file in filters.keep([file for _, file in ordered])}
    shown = [pair for pair in ordered if pair[1].path_id in kept][: request.limit]
    about = view.about({file.content for _, file in shown if file.content is not None})
    found: list[Ranked] = []
    for score, file in shown:
        known = about.get(file.content) if file.content is not None else None
        last = max(known.lines, 1) if known else 1
        at = _at_line(view, file, line, score) if 0 < line <= last else None
        said = _SAID.get(score, "words of the path")
        explain = {"path": score} if request.explain else {}
        found.append(at or Ranked(file, 1, last, "file", -1, score, said, "", explain))
    return found


def _at_line(view: Snapshot, file: FileRow, line: int, score: float) -> Ranked | None:
    """The innermost definition around a line, if it is not too long; else lines about it."""
    assert file.content is not None
    around = [
        one
        for one in reads.definitions(view.db, [file.content]).get(file.content, ())
        if one.start_line <= line <= one.end_line and one.end_line - one.start_line < _CLOSE_LINES
    ]
    if around:
        one = min(around, key=lambda known: (known.end_line - known.start_line, -known.ordinal))
        shown = reads.signature(view.db, file.content, one.ordinal)
        return Ranked(
            file, one.start_line, one.end_line, "symbol", one.ordinal, score,
            f"around line {line}", shown, {},
        )  # fmt: skip
    for chunk in view.chunks([file.content]).get(file.content, ()):
        if chunk.start_line <= line <= chunk.end_line:
            return Ranked(
                file, chunk.start_line, chunk.end_line, "chunk", -1, score,
                f"around line {line}", "", {},
            )  # fmt: skip
    return None
