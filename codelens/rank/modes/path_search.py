"""Searches files by path (exact, end, part, glob, words), and by meaning."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter

from codelens.extract.tokenizer import WORD, count_terms, terms_of_text
from codelens.meaning import word_table
from codelens.meaning.question_likeness import QuestionLikeness, by_vectors
from codelens.meaning.text_vectors import LENGTH, said_vector
from codelens.meaning.word_table import WordTableDamaged
from codelens.paths import printed
from codelens.rank.pasted import location_context, pasted_locations
from codelens.rank.pasted.location_context import Spot
from codelens.rank.pasted.pasted_locations import Ends, Location, parts_of
from codelens.rank.query.query_analysis import Query
from codelens.rank.search_request import Ranked, globs
from codelens.rank.search_state import SearchState, Texts
from codelens.store.facts import ranking_reads
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow

_GLOB = re.compile(r"[*?]|\[[^\]]+\]|\{[^}]+,[^}]*\}")
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
_REASONS = {
    WHOLE: "the path",
    END: "the end of the path",
    FOLDER: "in this folder",
    NAME: "the file's name",
    NAME_START: "the start of the name",
    IN_NAME: "in the name",
    IN_PATH: "in the path",
}

_PATH: Callable[[FileRow], bytes] = itemgetter(FileRow._fields.index("path"))


def search_paths(state: SearchState) -> list[Ranked]:
    """Return files whose path matches, best first; shorter paths first."""
    view, query = state.view, state.query
    place = pasted_locations.whole(query.text)
    if place is not None and (place.line or place.names or _is_rooted(place.path)):
        ranked = named(state, place)
        if ranked:
            return ranked
    text = place.path if place and place.line else query.text.replace("\\", "/")
    if _GLOB.search(text):
        patterns = globs([text])
        scored = [(WHOLE, file) for file in view.files if patterns.match(file.path)]
    else:
        scored = _graded(view.files, text)
        if len(scored) < state.request.limit:
            scored += _by_words(view, query, {file.path_id for _, file in scored})
    return _results(state, scored, Location(text))


def named(state: SearchState, place: Location) -> list[Ranked]:
    """Return the place in the files that its path names.

    A path names files in full, by its end, by the rest after another machine's root or the `a/` of
    a diff, or as their folder.
    """
    view = state.view
    scored = [(grade, file) for grade, file in _graded(view.files, place.path) if grade >= FOLDER]
    if not scored:
        ending = Ends(view.files, [place.path]).find(place.path)
        if ending.whole and " " not in place.path:
            scored = [(END, file) for file in ending.files]
            if not ending.all_of_it and not _is_rooted(place.path):
                shown = printed(ending.files[0].path)
                state.note(f"no `{place.path}` here; `{shown}` has the same end")
    if not scored and place.is_certain:
        folder = _folder(view.files, place.path)
        scored = [(FOLDER, file) for file in folder]
    if scored:
        top = max(grade for grade, _ in scored)
        scored = [pair for pair in scored if pair[0] >= END or top == FOLDER]
    return _results(state, scored, place)


def _is_rooted(path: str) -> bool:
    """Whether a path starts outside of a worktree: at a root, a drive, or a side of a diff."""
    return path.startswith(("/", "~", "../", "a/", "b/")) or path[1:3] == ":/"


def _folder(files: Iterable[FileRow], path: str) -> list[FileRow]:
    """Return the files of the folder that matches the longest end of a rooted path."""
    parts = parts_of(path)
    if not _is_rooted(path):
        return []
    every = list(files)
    for start in range(1, len(parts)):
        folder = b"/".join(parts[start:]) + b"/"
        file_rows = [file for file in every if file.path.startswith(folder)]
        if file_rows:
            return file_rows
    return []


def _graded(files: Iterable[FileRow], text: str) -> list[tuple[float, FileRow]]:
    """Grade files whose path contains `text`; case matters only if it has capitals."""
    needle = text.removeprefix("./").rstrip("/").encode("utf-8", "replace")
    if not needle:
        return []
    fold = needle == needle.lower()
    rows = list(files)
    paths = map(_PATH, rows)
    # As much as possible in C, since this runs for every file of a view.
    searched = map(bytes.lower, paths) if fold else paths
    return [
        (_grade(path, needle), file)
        for path, file in zip(searched, rows, strict=True)
        if needle in path
    ]


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


def _by_words(view: Snapshot, query: Query, already_found: set[int]) -> list[tuple[float, FileRow]]:
    """Grade files by the share of the query's words in stem and folders."""
    terms = list(dict.fromkeys(terms_of_text(query.text)))[:_SCANNED_WORDS]
    counts: dict[int, int] = {}
    files: dict[int, FileRow] = {}
    for term in view.paths_with_terms(terms).values():
        for file in term:
            if file.path_id not in already_found:
                counts[file.path_id] = counts.get(file.path_id, 0) + 1
                files[file.path_id] = file
    return [(WORDS * count / len(terms), files[number]) for number, count in counts.items()]


def _results(
    state: SearchState, scored: Sequence[tuple[float, FileRow]], place: Location
) -> list[Ranked]:
    view, request = state.view, state.request
    ordered = sorted(scored, key=lambda graded: (-graded[0], len(graded[1].path), graded[1].path))
    kept_ids = {file.path_id for file in state.filters.keep([file for _, file in ordered])}
    request.note_found((path_id, -1) for path_id in kept_ids)
    shown = [pair for pair in ordered if pair[1].path_id in kept_ids][: request.limit]
    about = view.about({file.content for _, file in shown if file.content is not None})
    ranked: list[Ranked] = []
    there = 0
    for score, file in shown:
        content = about.get(file.content) if file.content is not None else None
        last = max(content.lines, 1) if content else 1
        explain = {"path": score} if request.explain else {}
        here = _within(view, file, place, score)
        there += len(here)
        reason = _REASONS.get(score, "words of the path")
        whole = Ranked(file, 1, last, "file", -1, score, reason, "", explain)
        ranked.extend(ranked._replace(explain=explain) for ranked in here or [whole])
    if ranked and not there and place.line:
        content = about.get(ranked[0].file.content or 0)
        lines = content.lines if content else 0
        state.note(f"no line {place.line}: `{printed(ranked[0].file.path)}` has {lines} lines")
    if ranked and place.names:
        if there:
            ranked = [result for result in ranked if result.kind != "file"]
        else:
            state.note(f"no `{'.'.join(place.names)}` in `{printed(ranked[0].file.path)}`")
    return ranked[: request.limit]


def _within(view: Snapshot, file: FileRow, place: Location, score: float) -> list[Ranked]:
    """Resolve the line or names of a place in a file; empty if it has none or nothing matches."""
    shares = {"path": score}
    if place.names:
        return [
            location_context.shown(
                view, file,
                Spot(definition.start_line, definition.end_line, definition.ordinal, ""),
                "defines it in this file", shares=shares,
            )
            for definition in location_context.named(view, file, place.names)
        ]  # fmt: skip
    spot = location_context.at_line(view, file, place.line, place.last) if place.line else None
    if spot is None:
        return []
    lines = f"line {place.line}" if place.last == place.line else f"lines {place.line}-{place.last}"
    why = f"around {lines}" + (f", in {spot.inside}" if spot.symbol < 0 and spot.inside else "")
    return [location_context.shown(view, file, spot, why, shares=shares)]


# Searches files by meaning only, regardless of their words: `search --meaning only`.


def search_by_meaning(state: SearchState) -> list[Ranked]:
    """Return the chunk of each file most similar to the question, best first; ties by path."""
    likeness = state.request.likeness or _by_table(state)
    if likeness is None:
        return []
    files = state.filters.keep([file for file in state.view.files if file.content in likeness])
    state.request.note_found((file.path_id, -1) for file in files)
    scored = sorted((-likeness.best_of(file.content), file.path, file) for file in files)
    shown = [file for _, _, file in scored[: state.request.limit]]
    return _places(state, shown, likeness)


def _places(
    state: SearchState, shown: Sequence[FileRow], likeness: QuestionLikeness
) -> list[Ranked]:
    chunks = state.view.chunks({file.content or 0 for file in shown})
    texts = Texts(state.read, {})
    ranked: list[Ranked] = []
    for file in shown:
        chunk = chunks[file.content or 0][likeness.best_chunk(file.content)]
        start, end, cosine = chunk.start_line, chunk.end_line, likeness.best_of(file.content)
        line = texts.best_line(file, start, end)
        shares = {"meaning": cosine} if state.request.explain else {}
        why = f"meaning, by {likeness.made_by}"
        ranked.append(Ranked(file, start, end, "chunk", -1, cosine, why, line, shares))
    return ranked


def _by_table(state: SearchState) -> QuestionLikeness | None:
    try:
        table = word_table.shipped()
    except WordTableDamaged as error:
        state.note(str(error))
        return None
    question = said_vector(table, count_terms(WORD.findall(state.request.query)))
    if not question:
        state.note("the table of words has no word of the question")
        return None
    view = state.view
    contents = ranking_reads.vectors_of(view.db, sorted(view.by_content), table.head.version)
    return by_vectors("the table of words", question, contents, LENGTH * LENGTH)
