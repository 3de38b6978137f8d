"""The request and outcome of a search, its filters, and the common scale of several repositories.

Scores depend on statistics of the view: how rare a word is, and each feature as a share of the best
candidate's. By itself the best file of every repository has about the same score, whether it
answers or not. With a common scale each view is visited three times: the first visit counts in how
many files each term occurs, the second measures the candidates with the sums of these counts, the
third ranks them as shares of the best of all views. A score is then about the score in one merged
repository.

Two statistics stay local to the view, since they describe its conventions: the mean lengths of
texts, and the top folder that file depths are counted from.
"""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from codelens.errors import InvalidArgument, QueryError
from codelens.meaning.question_likeness import QuestionLikeness
from codelens.store.facts import ranking_reads as reads
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow
from codelens.types import SymbolKind

_View = tuple[int, int]
_Rows = Sequence[Mapping[str, float]]


class Visit(enum.Enum):
    """What the current visit of a view does."""

    COUNT = 1
    MEASURE = 2
    RANK = 3


class CommonScale:
    """The statistics of all views for one question; `visit` says how they are used."""

    def __init__(self) -> None:
        self.visit = Visit.COUNT
        self.lacks_meaning = False
        """Set if one view cannot be ranked by meaning: then no view is, since that view would rank
        lower."""
        self._files: dict[_View, int] = {}
        self._having: dict[_View, dict[str, int]] = {}
        self._tops: dict[str, dict[str, float]] = {}
        self._chunks: dict[str, list[list[float]]] = {}
        self._cosines: dict[str, list[float]] = {}

    def pooled(
        self, view: Snapshot, files: int, having: Mapping[str, int]
    ) -> tuple[int, Mapping[str, int]]:
        """Return the number of files of all views, and how many contain each term.

        Args:
            view: the current view.
            files: its number of files.
            having: term -> how many of its files contain it; 0 for none.
        """
        place = _place(view)
        if self.visit is Visit.COUNT:
            self._files[place] = files
            self._having.setdefault(place, {}).update(having)
            return files, having
        total: Counter[str] = Counter()
        for other, counts in self._having.items():
            merged = {**counts, **having} if other == place else counts
            total.update({term: merged.get(term, 0) for term in having})
        return sum(self._files.values()), total

    def knows(self, term: str) -> bool:
        """Whether any view contains a term."""
        return any(counts.get(term) for counts in self._having.values())

    def tops(self, stage: str, rows: _Rows, features: Sequence[str]) -> Mapping[str, float]:
        """Return the highest value of each feature in `rows`, or once measured in all views.

        Args:
            stage: names a step of ranking a question.
            rows: features of the candidates that define the scale.
            features: names of the features.
        """
        own = {name: max((row[name] for row in rows), default=0.0) for name in features}
        if self.visit is Visit.COUNT:
            return own
        highest = self._tops.setdefault(stage, {})
        if self.visit is Visit.MEASURE:
            for name, top in own.items():
                highest[name] = max(top, highest.get(name, 0.0))
            return own
        return {name: max(top, highest.get(name, 0.0)) for name, top in own.items()}

    def masses(
        self,
        stage: str,
        chunks: Sequence[Sequence[float]],
        mass: Callable[[Sequence[float]], float],
    ) -> float:
        """Return the highest mass of the chunks of any candidate that defines the scale."""
        if self.visit is Visit.MEASURE:
            self._chunks.setdefault(stage, []).extend(map(list, chunks))
        every = self._chunks.get(stage, ()) if self.visit is Visit.RANK else chunks
        return max(map(mass, every), default=0.0)

    def cosines(self, stage: str, measured: Sequence[float]) -> list[float]:
        """Return the cosines of the candidates that define the scale with the question."""
        if self.visit is Visit.MEASURE:
            self._cosines.setdefault(stage, []).extend(measured)
        return list(self._cosines.get(stage, ()) if self.visit is Visit.RANK else measured)


def _place(view: Snapshot) -> _View:
    return (id(view.db), view.row.id)


# The request and the outcome of a search; all modes share them.

MODES = ("auto", "symbol", "text", "regex", "path", "meaning")
CONTENTS = ("all", "code", "prose")
_SHOWN_CHARS = 100


Found = tuple[int, int]
"""Path id of a file, and position of a definition in it; -1 for any place in the file."""


class Request(NamedTuple):
    """A question and its filters."""

    query: str
    mode: str = "auto"
    """`auto`, `symbol` (definitions), `text` (literal), `regex`, `path`, or `meaning` (alone)."""
    languages: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    """Path globs, relative to the root; `!glob` leaves out. `**` crosses folders."""
    kinds: tuple[str, ...] = ()
    """Symbol kinds; results are then only definitions of these kinds."""
    content: str = "all"
    """`code`, `prose` or `all`."""
    limit: int = 10
    explain: bool = False
    seconds: float = 2.0
    """Time limit for reading files in modes `text` and `regex`."""
    meaning: bool = True
    """Whether words are also ranked by meaning (docs/meaning.md)."""
    likeness: QuestionLikeness | None = None
    """Similarity by a provider's vectors, if one is enabled; None: by the word table."""
    common: CommonScale | None = None
    """Shared by all repositories that get this question; None for a single repository."""
    answering: set[Found] | None = None
    """Collects everything that answers, within the limit and beyond; None: not counted."""

    def note_found(self, places: Iterable[Found]) -> None:
        """Count what answers, within the limit or beyond."""
        if self.answering is not None:
            self.answering.update(places)


NAMED, SCORED, NEAR = 0, 1, 2
"""Standing of a result: the query names, quotes or pastes it; it was ranked by score; or it is a
near match with another name."""


class Ranked(NamedTuple):
    """One place of an outcome."""

    file: FileRow
    start_line: int
    end_line: int
    kind: str
    """`symbol`, `chunk`, `line` or `file`."""
    symbol: int
    """Position of the definition among the symbols of its content, -1 if it is not a definition."""
    score: float
    """Comparable only within one outcome; with a `CommonScale`, use `own_score` to compare
    outcomes."""
    why: str
    line: str
    """The definition's signature, or the most relevant line; may be empty."""
    explain: Mapping[str, float]
    """Each feature's part of the score; empty unless requested."""
    alike: tuple[Ranked, ...] = ()
    """Near-copies that this place represents."""
    also: tuple[Ranked, ...] = ()
    """Further places of the same file."""
    standing: int = SCORED
    """`NAMED`, `SCORED` or `NEAR`."""
    raised: float = 0.0
    """What was added to the score to rank it above later results."""

    @property
    def own_score(self) -> float:
        """The score without the part by which it was raised."""
        return self.score - self.raised


PARTIAL = "partial: "
"""Prefix of a note that the answer was cut short by time."""


class Outcome(NamedTuple):
    """The answer to a request."""

    results: list[Ranked]
    mode: str
    """The mode that was used, one of `MODES`; `auto` means that words were ranked."""
    notes: list[str]
    """Sentences on what was not understood, near matches, and filters without a match."""
    left: int = 0
    """Minimum number of further definitions or files that answer, beyond the limit."""

    @property
    def cut_short(self) -> str:
        """The note that time ran out; empty if it did not."""
        return next((note for note in self.notes if note.startswith(PARTIAL)), "")


def check(request: Request) -> None:
    """Refuse an invalid request.

    Raises:
        QueryError: the query is empty, or the mode or content does not exist.
        InvalidArgument: the limit is below 1.
    """
    if not request.query.replace("\0", " ").strip():
        raise QueryError("the query is empty; say what to look for")
    _check_one_of("mode", request.mode, MODES)
    _check_one_of("content", request.content, CONTENTS)
    if request.limit < 1:
        raise InvalidArgument("limit", f"must be at least 1, not {request.limit}")


def _check_one_of(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        shown = value[:_SHOWN_CHARS]
        raise QueryError(f"{name} must be one of {', '.join(choices)}, not {shown!r}")


# Filters of a request: languages, path globs, code or prose.

PROSE_LANGUAGES = frozenset("markdown mdx rst restructuredtext asciidoc org tex latex".split())
"""Languages that are prose regardless of the file name; `text` only means an unknown language."""
KINDS = frozenset(SymbolKind.__args__)  # type: ignore[attr-defined]
_MAX_GLOB = 1000


class Globs(NamedTuple):
    """Compiled path globs; a path passes if one of `any_of` matches and none of `none_of`."""

    any_of: tuple[re.Pattern[str], ...]
    none_of: tuple[re.Pattern[str], ...]

    def match(self, path: bytes) -> bool:
        """Whether a path passes."""
        text = path.decode("utf-8", "surrogateescape")
        if self.any_of and not any(pattern.match(text) for pattern in self.any_of):
            return False
        return not any(pattern.match(text) for pattern in self.none_of)


class Filters:
    """Filters files by a request, a few files at a time."""

    def __init__(self, view: Snapshot, request: Request) -> None:
        unknown = sorted(set(request.kinds) - KINDS)
        if unknown:
            raise QueryError(
                f"kind must be one of {', '.join(sorted(KINDS))}, not {unknown[0][:100]!r}"
            )
        self._view = view
        self.languages = frozenset(language.strip().lower() for language in request.languages)
        self.globs = globs(request.globs)
        self.content = request.content
        self.kinds = request.kinds
        self.active = bool(self.languages or request.globs or request.content != "all")

    def keep(self, files: list[FileRow]) -> list[FileRow]:
        """Return the files that pass, in order."""
        if self.globs.any_of or self.globs.none_of:
            files = [file for file in files if self.globs.match(file.path)]
        if self.languages:
            language_of = self._languages(files)
            files = [
                file for file in files if language_of.get(file.content or 0, "") in self.languages
            ]
        if self.content != "all":
            prose = self._prose(files)
            files = [file for file in files if (file.path in prose) == (self.content == "prose")]
        return files

    def _languages(self, files: list[FileRow]) -> dict[int, str]:
        ids = {file.content for file in files if file.content is not None}
        return {key: language[0] for key, language in reads.languages(self._view.db, ids).items()}

    def _prose(self, files: list[FileRow]) -> set[bytes]:
        language_of = self._languages(files)
        facts = self._view.path_facts(file.path_id for file in files)
        return {
            file.path
            for file in files
            if language_of.get(file.content or 0, "") in PROSE_LANGUAGES
            or facts[file.path_id].role == "prose"
        }

    def explain_nothing(self) -> list[str]:
        """Return a sentence on the filters that match no file of the view."""
        notes: list[str] = []
        files = self._view.files
        if self.languages:
            here = set(self._languages(files).values())
            missing = sorted(self.languages - here)
            if missing:
                used = ", ".join(sorted(here - {""})[:12])
                notes.append(
                    f"no file here is in {', '.join(missing)}; languages here: {used or 'none'}"
                )
        if (self.globs.any_of or self.globs.none_of) and not any(
            self.globs.match(file.path) for file in files
        ):
            matched = "no path here matches the globs"
            notes.append(matched if self.globs.any_of else "the globs exclude every path here")
        if self.content == "prose" and not self._prose(files):
            notes.append("there is no prose here")
        if self.active and not notes:
            left = len(self.keep(list(files)))
            if left:
                verb = "file passes" if left == 1 else "files pass"
                notes.append(f"{left:,} {verb} the filters; none matches the query")
            else:
                notes.append("each filter matches files here, but none passes all of them")
        if self.kinds and not notes:
            notes.append(f"no definition of kind {' or '.join(self.kinds)} matches the query")
        return notes


def globs(patterns: Sequence[str]) -> Globs:
    """Compile globs: `*` and `?` stay within a folder, `**` crosses folders, `!` excludes.

    A glob without `/` matches names in any folder; a glob that matches a folder includes its files.

    Raises:
        QueryError: a glob is empty, too long, or has an invalid range.
    """
    any_of: list[re.Pattern[str]] = []
    none_of: list[re.Pattern[str]] = []
    for pattern in patterns:
        negated = pattern.startswith("!")
        body = pattern[1:] if negated else pattern
        (none_of if negated else any_of).append(_compiled(body))
    return Globs(tuple(any_of), tuple(none_of))


@lru_cache(maxsize=256)
def _compiled(glob: str) -> re.Pattern[str]:
    body = glob.removeprefix("./").strip("/")
    refusal = f"bad glob {glob[:100]!r}: give a path pattern like src/**/*.py or !tests/**"
    if not body or len(body) > _MAX_GLOB:
        raise QueryError(refusal)
    anywhere = "/" not in glob.removeprefix("./").rstrip("/")
    text = "(?:.*/)?" if anywhere else ""
    at = 0
    while at < len(body):
        piece, at = _piece(body, at)
        text += piece
    try:
        return re.compile(text + r"(?:/.*)?\Z", re.DOTALL)
    except (re.error, RecursionError, OverflowError) as error:
        # `[3-1]` is an empty range.
        raise QueryError(refusal) from error


def _piece(glob: str, at: int) -> tuple[str, int]:
    """Return the regex of one piece of a glob, and where the next piece starts."""
    if glob.startswith("**/", at):
        return "(?:.*/)?", at + 3
    if glob.startswith("**", at):
        return ".*", at + 2
    char = glob[at]
    if char == "*":
        return "[^/]*", at + 1
    if char == "?":
        return "[^/]", at + 1
    if char == "[":
        end = glob.find("]", at + 2)
        if end > 0:
            inner = glob[at + 1 : end]
            negated = inner[0] in "!^"
            members = _set_members(inner[negated:])
            return f"(?!/)[{'^' * negated}{members}]", end + 1
    if char == "{":
        end = glob.find("}", at)
        if end > 0:
            options = glob[at + 1 : end].split(",")
            return "(?:" + "|".join(_alternative(option) for option in options) + ")", end + 1
    return re.escape(char), at + 1


def _set_members(inner: str) -> str:
    """Convert the members of a bracket set to a regex: ranges stay, other characters are escaped.

    Unescaped, `--`, `&&`, `||` and `~~` make Python warn that they may become operators.
    """
    members = ""
    at = 0
    while at < len(inner):
        members += re.escape(inner[at])
        if inner[at + 1 : at + 2] == "-" and at + 2 < len(inner):
            members += f"-{re.escape(inner[at + 2])}"
            at += 2
        at += 1
    return members


def _alternative(glob: str) -> str:
    text = ""
    at = 0
    while at < len(glob):
        piece, at = _piece(glob, at)
        text += piece
    return text
