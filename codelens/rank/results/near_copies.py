"""Near-copies folded: places whose text is nearly the same become one, and others move up.

Two places are alike when

- they are the same lines of one content at two paths; or
- their files are translations of one another (`codelens.rank.scoring.translated_paths`), and they
are
  definitions of one name and kind, or headings, or no definitions; or
- they are definitions of one name and kind in two files, and the multisets of their words and
  signs have a Jaccard likeness of `NEARLY`; short ones, where one other word is another answer,
  must be equal and have one qualified name; or
- they are no definitions, their files have one stem, and the texts a likeness of `NEARLY`; or
- they are overloads, definitions of one qualified name in one file, with `OVERLOAD`; or
- one is the prototype of the other, in C and its kin: the definition is shown, wherever the
  prototype stood.

Measured on 3,954 pairs of same-named definitions of about one length of 11 repositories
(docs/search.md): above these bounds lie copies, variants and overloads, below them begin those
that do another thing in another way. Lines of no definition need files of one stem, since what
two neighbours share is most often a licence and imports.

Each place is compared with those before it that were kept, so the result depends on their order
and on nothing else. It ends when there are enough places and `LOOKED` times as many were looked
at; only texts of nearly one length are read, `_TEXTS` of them at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from codelens.rank.results import answer_lines
from codelens.rank.results.answer_lines import Place
from codelens.rank.results.shown_texts import Texts
from codelens.rank.scoring.translated_paths import family
from codelens.rank.scoring.weighted_score import Judged
from codelens.store.database.database import Database
from codelens.store.facts import ranking_reads as reads
from codelens.store.views.views import FileRow

LOOKED = 3
NEARLY = 0.9
OVERLOAD = 0.7
_SHORTEST_TOKENS = 12
"""What is shorter is alike by what it must be, and no copy of anything."""
_LONG_TOKENS = 60
_LINES_ALIKE = 0.8
_TEXTS = 24
_CALLABLE = frozenset({"function", "method", "constructor"})


class Origin(NamedTuple):
    """What tells of a file that it may be a copy of another."""

    content: int | None
    family: str
    stem: str

    def may_be(self, other: Origin) -> bool:
        """Whether places of the two may be alike, whatever they are called."""
        return (
            (self.content is not None and self.content == other.content)
            or self.stem == other.stem
            or (self.family != "" and self.family == other.family)
        )


def _origin(judge: Judged) -> Origin:
    """Of a file."""
    candidate = judge.evidence
    path = candidate.file.path
    stem = path.rpartition(b"/")[2].partition(b".")[0].decode("utf-8", "surrogateescape")
    return Origin(candidate.file.content, family(path, prose=candidate.facts.role == "prose"), stem)


class _Known(NamedTuple):
    place: Place
    origin: Origin
    name: tuple[str, str]
    """Name and kind of the definition; empty for lines and headings."""


def folded(
    db: Database, pairs: Iterable[tuple[Judged, Place | None]], limit: int, texts: Texts
) -> list[Place]:
    """The first `limit` places that are not alike, each with those that are like it.

    Args:
        db: the store.
        pairs: files in their order, each with a place, or None for the one that answers best.
            That one costs a look at the text: once there are enough places, it is sought only
            where the file may be a copy of one of them.
        limit: places at most.
        texts: the texts of the query.
    """
    compare = _Comparison(db, texts)
    kept_results: list[_Known] = []
    groups: list[list[Place]] = []
    for number, (judge, known) in enumerate(pairs):
        full = len(kept_results) >= limit
        if full and number >= LOOKED * limit:
            break
        origin = _origin(judge)
        if (
            known is None
            and full
            and not any(origin.may_be(other.origin) for other in kept_results)
        ):
            continue
        place = answer_lines.best(judge, texts) if known is None else known
        result = _Known(place, origin, _name(place))
        at = next((at for at, other in enumerate(kept_results) if compare.alike(other, result)), -1)
        if at >= 0 and compare.is_prototype(kept_results[at]) and not compare.is_prototype(result):
            groups[at].append(kept_results[at].place)
            kept_results[at] = result._replace(place=_in_stead(place, kept_results[at].place))
        elif at >= 0:
            groups[at].append(place)
        elif not full:
            kept_results.append(result)
            groups.append([])
    return [
        known.place._replace(alike=tuple(group)) if group else known.place
        for known, group in zip(kept_results, groups, strict=True)
    ]


def _in_stead(definition: Place, prototype: Place) -> Place:
    """A definition at the score of its prototype, which stood above it."""
    return definition._replace(score=prototype.score, shares=prototype.shares)


def _name(place: Place) -> tuple[str, str]:
    definitions = place.judged.evidence.definitions
    if not 0 <= place.symbol < len(definitions) or definitions[place.symbol].kind == "heading":
        return ("", "")
    return (definitions[place.symbol].name, definitions[place.symbol].kind)


class _Comparison:
    """Compares places; reads no more than it may."""

    def __init__(self, db: Database, texts: Texts) -> None:
        self._db = db
        self._texts = texts
        self._read: dict[tuple[bytes, int, int], Counter[bytes]] = {}

    def alike(self, left: _Known, right: _Known) -> bool:
        """Whether two places are alike; false where it would take too many reads to tell."""
        a, b = left.place, right.place
        if _file(a).path == _file(b).path:
            named = bool(left.name[0]) and left.name == right.name
            return named and self._texts_alike(a, b, OVERLOAD) and self._one_name(a, b)
        if left.origin.content is not None and left.origin.content == right.origin.content:
            return (a.start_line, a.end_line) == (b.start_line, b.end_line)
        if left.name != right.name:
            return False
        if left.origin.family and left.origin.family == right.origin.family:
            return True
        if self.is_prototype(left) != self.is_prototype(right) and self._one_name(a, b):
            return True
        if not left.name[0]:
            return left.origin.stem == right.origin.stem and self._texts_alike(a, b, NEARLY)
        if not self._texts_alike(a, b, NEARLY):
            return False
        counts, other = self._tokens(a), self._tokens(b)
        return min(counts.total(), other.total()) >= _LONG_TOKENS or (
            counts == other and self._one_name(a, b)
        )

    def is_prototype(self, known: _Known) -> bool:
        """Whether a place declares a function without its body."""
        place = known.place
        about = place.judged.evidence.about
        if known.name[1] not in _CALLABLE or about is None:
            return False
        # Late: few answers have two that are alike, and one that may be a declaration.
        from codelens.resolve.languages.registry import spec_of

        if not spec_of(about.language).prototypes:
            return False
        text = b"\n".join(self._texts.lines(_file(place), place.start_line, place.end_line))
        return b"{" not in text and text.rstrip().endswith(b";")

    def _texts_alike(self, a: Place, b: Place, least: float) -> bool:
        lines, others = a.end_line - a.start_line + 1, b.end_line - b.start_line + 1
        if min(lines, others) < min(least, _LINES_ALIKE) * max(lines, others):
            return False
        counts, other = self._tokens(a), self._tokens(b)
        if min(counts.total(), other.total()) < _SHORTEST_TOKENS:
            return False
        return (counts & other).total() >= least * (counts | other).total()

    def _one_name(self, a: Place, b: Place) -> bool:
        names = {
            reads.qualified(self._db, _file(place).content or 0, place.symbol) for place in (a, b)
        }
        return len(names) == 1

    def _tokens(self, place: Place) -> Counter[bytes]:
        counts = self._read.get(place.where)
        if counts is None:
            if len(self._read) >= _TEXTS:
                return Counter()
            counts = self._texts.tokens(_file(place), place.start_line, place.end_line)
            self._read[place.where] = counts
        return counts


def _file(place: Place) -> FileRow:
    return place.judged.evidence.file
