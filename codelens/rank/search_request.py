"""What is asked of a search, and what comes back; shared by all modes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from codelens.errors import InvalidArgument, QueryError
from codelens.meaning.question_likeness import QuestionLikeness
from codelens.store.views.views import FileRow

if TYPE_CHECKING:
    from codelens.rank.common_scale import CommonScale

MODES = ("auto", "symbol", "text", "regex", "path", "meaning")
CONTENTS = ("all", "code", "prose")
_SHOWN_CHARS = 100


Found = tuple[int, int]
"""Path id of a file, and position of a definition in it; -1: the file, by any place in it."""


class Request(NamedTuple):
    """A question with its filters."""

    query: str
    mode: str = "auto"
    """`auto`, `symbol` (definitions), `text` (literal), `regex`, `path`, or `meaning` (alone)."""
    languages: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    """Path globs, relative to the root; `!glob` leaves out. `**` crosses folders."""
    kinds: tuple[str, ...] = ()
    """Symbol kinds; results are then definitions of these kinds."""
    content: str = "all"
    """`code`, `prose` or `all`."""
    limit: int = 10
    explain: bool = False
    seconds: float = 2.0
    """How long files may be read for `text` and `regex`."""
    meaning: bool = True
    """Whether words are also ranked by what they mean (docs/meaning.md)."""
    likeness: QuestionLikeness | None = None
    """By a provider's vectors, where one is enabled; None: by the table of words."""
    common: CommonScale | None = None
    """Shared with other repositories that are asked the same; None: this one is asked alone."""
    answering: set[Found] | None = None
    """Grows on the way: all that answers, within the limit and beyond; None: nobody counts it."""

    def note_found(self, places: Iterable[Found]) -> None:
        """Count what answers, whether the limit lets it in or not."""
        if self.answering is not None:
            self.answering.update(places)


NAMED, SCORED, NEAR = 0, 1, 2
"""Why a result stands where it does: the query names, quotes or pastes it; by its score; it may be
meant, but is called otherwise."""


class Ranked(NamedTuple):
    """One place, best first in its outcome."""

    file: FileRow
    start_line: int
    end_line: int
    kind: str
    """`symbol`, `chunk`, `line` or `file`."""
    symbol: int
    """Position of the definition among the symbols of its content, -1 if it is none."""
    score: float
    """Comparable within one outcome only, or by `own_score` where a `CommonScale` was given."""
    why: str
    line: str
    """The definition's signature, or the line that tells most; may be empty."""
    explain: Mapping[str, float]
    """Each feature's share of the score; empty unless asked for."""
    alike: tuple[Ranked, ...] = ()
    """Places with nearly the same text that this one stands for."""
    also: tuple[Ranked, ...] = ()
    """Further places of the same file."""
    standing: int = SCORED
    """`NAMED`, `SCORED` or `NEAR`."""
    raised: float = 0.0
    """What was added to the score for it to be above those that come after it."""

    @property
    def own_score(self) -> float:
        """The score by itself."""
        return self.score - self.raised


PARTIAL = "partial: "
"""How a note begins that says the answer was cut short by time."""


class Outcome(NamedTuple):
    """The answer to a request."""

    results: list[Ranked]
    mode: str
    """What was done: one of `MODES`, where `auto` says that words were ranked."""
    notes: list[str]
    """What was not understood, near matches, filters that matched nothing: sentences."""
    left: int = 0
    """How many more definitions or files answer, at least, beyond the limit."""

    @property
    def cut_short(self) -> str:
        """The note that says that time ran out; empty if it did not."""
        return next((note for note in self.notes if note.startswith(PARTIAL)), "")


def check(request: Request) -> None:
    """Refuse what cannot be understood.

    Raises:
        QueryError: no query, or a mode or content that does not exist.
        InvalidArgument: no result is asked for.
    """
    if not request.query.replace("\0", " ").strip():
        raise QueryError("the query is empty; say what to look for")
    _one_of("mode", request.mode, MODES)
    _one_of("content", request.content, CONTENTS)
    if request.limit < 1:
        raise InvalidArgument("limit", f"must be at least 1, not {request.limit}")


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        shown = value[:_SHOWN_CHARS]
        raise QueryError(f"there is no {name} {shown!r}; there are {', '.join(known)}")
