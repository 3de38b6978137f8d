"""Chooses candidate files for a query from the postings of its terms and the view's statistics."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from codelens.rank import ranking_weights
from codelens.rank.query.query_analysis import MAX_TERMS, Term
from codelens.rank.ranking_weights import K1
from codelens.rank.view_statistics import Corpus, Segment
from codelens.store.database.database import Database
from codelens.store.facts import postings
from codelens.store.facts.postings import Posting
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow

if TYPE_CHECKING:
    from codelens.rank.search_request import CommonScale

_LOOK_UP = 16
"""A look-up in a posting costs about as much as this many steps along it."""


class Hits(NamedTuple):
    """The occurrences of one term in the whole view."""

    rows: Mapping[int, Posting]
    """Postings by segment, in any order."""
    files: int
    """Number of files with the term; a content at two paths counts twice."""


def read_hits(db: Database, corpus: Corpus, terms: Sequence[str]) -> dict[str, Hits]:
    """Read the postings of the `terms` that the view contains."""
    rows: dict[str, dict[int, Posting]] = {term: {} for term in terms}
    files = dict.fromkeys(terms, 0)
    segments = corpus.segments
    for number, term, data in postings.postings(db, terms):
        segment = segments.get(number)
        if segment is None:
            continue
        row = Posting(data)
        file_count = _files_with(segment, row)
        if file_count:
            rows[term][number] = row
            files[term] += file_count
    return {term: Hits(row, files[term]) for term, row in rows.items() if files[term]}


def _files_with(segment: Segment, row: Posting) -> int:
    """Return the number of files of the view for a posting."""
    files = segment.files
    if files is None:
        return row.doc_count
    docs, odd = row.docs, segment.odd
    if len(odd) * _LOOK_UP >= len(docs):
        return sum(map(files.__getitem__, docs))
    return len(docs) + sum(files[doc] - 1 for doc in odd if row.total(doc))


def term_idf(total: int, having: int) -> float:
    """Return BM25's weight of a term in `having` of `total` documents; never negative."""
    return math.log(1.0 + (total - having + 0.5) / (having + 0.5))


# Detects translations of one file: `locale/de/formats.py`, `README.fr.md`.

_LOCALES = (
    "af ar az be bg bn bs ca ckb cs cy da de el en eo es et eu fa fi fr fy ga gd gl he hi hr hu hy "
    "id ig io is it ja ka kab kk km kn ko ky lb lt lv mk ml mn mr ms my nb ne nl nn no os pa pl pt "
    "ro ru sk sl sq sr sv sw ta te tg th tk tr tt udm ug uk ur uz vi zh"
)
"""ISO 639 codes that software is translated to (Django's list and a few more)."""
_LOCALE = re.compile(
    rf"(?i)(?:{'|'.join(_LOCALES.split())})(?:[_-](?:[a-z]{{2}}|[a-z]{{4}}|\d{{3}}))?\Z"
)
_LOCALE_FOLDERS = frozenset(
    "locale locales lang langs language languages i18n l10n intl nls translations translation "
    "messages".split()
)
_DATA = frozenset(
    "properties json yml yaml po resx strings arb ftl xlf xml toml ini md markdown mdx rst txt "
    "adoc html".split()
)
_SUFFIX = re.compile(r"(.+)[._-]([A-Za-z]{2,3}(?:[_-][A-Za-z0-9]{2,4})?)\Z")


@lru_cache(maxsize=20_000)
def family(path: bytes, *, prose: bool) -> str:
    """Return a key that only the translations of a file share; empty for other files.

    A code of two letters can be a word (`io`, `is`, `my`). So it counts only below a folder for
    translations, in prose, or at the end of a data file's stem. `README.md` is in the family of
    `README.de.md`.
    """
    *folders, name = path.decode("utf-8", "surrogateescape").split("/")
    stem, dot, ending = name.rpartition(".")
    if not dot:
        stem, ending = name, ""
    is_found = False
    shown: list[str] = []
    for at, part in enumerate([*folders, stem]):
        is_locale = prose or (at > 0 and folders[at - 1].lower() in _LOCALE_FOLDERS)
        suffix = _SUFFIX.match(part) if at == len(folders) and ending in _DATA else None
        if is_locale and _LOCALE.match(part):
            shown.append("*")
            is_found = True
        elif suffix and _LOCALE.match(suffix[2]):
            shown.append(suffix[1])
            is_found = True
        else:
            shown.append(part)
    if not is_found and ending not in _DATA:
        return ""
    return f"{'/'.join(shown)}.{ending}"


# The first stage chooses the files of a view that may answer, by whole-file BM25F.
#
# These scores only select; the second stage (`codelens.rank.scoring.definition_features`) scores
# again. The choice depends only on the view: sums follow the order of the terms' weights, and ties
# are broken by path.

WANTED = 100
"""Number of files for the second stage. The 200 best chunks contain .995 of the relevant files of
the retrieval benchmark; on its 25 repositories 80 files rank as well as 200."""
_COMMON_IN_PATHS = 0.2
"""A path term in a larger share of files is too common to choose by."""
_WORTH_PRUNING = 2000
"""Minimum number of a term's postings for pruning to pay off."""
_FEW_LEFT = 2000
"""Up to this many documents, single look-ups are cheaper than walking a posting."""
_WALKED = 40_000
"""Number of postings to walk, rarest terms first; the remaining terms are looked up only for
`_FINISHED` documents. Below this number the choice is exact. Above it, .999 of the 30 best
documents and .987 of the 120 best stay the same (simulated: 89 queries on Linux, 52,000 files)."""
_FINISHED = 1000
"""Number of documents, the best by the walked terms, for which the other terms are looked up."""
_SORTED_AT = 4
"""The best scores are sorted when there are this many times as many as wanted."""
_DENSE = 8
"""A segment's scores are a list once a term is in one of this many documents: walking a list costs
half as much for each document, but includes those without any term."""

Keep = Callable[[list[FileRow]], list[FileRow]]


class Weighed(NamedTuple):
    """A term of the query with its statistics in the view."""

    text: str
    weight: float
    """The term's own weight times its IDF."""
    hits: Hits | None
    named: frozenset[int]
    """Path ids of files with the term in stem or folders."""


_SegmentScores = list[float] | dict[int, float]
"""The scores of documents by number; if they are few, without those that have no term."""
_Scores = dict[int, _SegmentScores]
"""The scores of each segment."""


def weigh(
    view: Snapshot, corpus: Corpus, terms: Sequence[Term], common: CommonScale | None = None
) -> tuple[list[Weighed], int]:
    """Weigh the terms that the view contains; keep the rarest `MAX_TERMS`.

    With `common`, terms of any of its views count, by their rarity in all of them. The second value
    is the number of terms left out.
    """
    texts = [term.text for term in terms]
    read = read_hits(view.db, corpus, texts)
    paths = view.paths_with_terms(texts)
    weighed: list[Weighed] = []
    named = {text: frozenset(file.path_id for file in paths.get(text, ())) for text in texts}
    having = {
        text: min(max(posting.files if (posting := read.get(text)) else 0, len(named[text])),
                  corpus.file_count)
        for text in texts
    }  # fmt: skip
    file_count = corpus.file_count
    if common is not None:
        file_count, having = common.pooled(view, file_count, having)
    for term in terms:
        hits = read.get(term.text)
        if hits is not None or having[term.text]:
            idf = term_idf(file_count, having[term.text])
            weighed.append(Weighed(term.text, term.weight * idf, hits, named[term.text]))
    if len(weighed) <= MAX_TERMS:
        return weighed, 0
    keep = sorted(range(len(weighed)), key=lambda at: (-weighed[at].weight, weighed[at].text))
    strongest = [weighed[at] for at in sorted(keep[:MAX_TERMS])]
    return strongest, len(weighed) - MAX_TERMS


def choose(
    corpus: Corpus,
    terms: Sequence[Weighed],
    also: Sequence[FileRow],
    keep: Keep | None,
    also_first: bool,
) -> list[FileRow]:
    """Return the best files; files of `also` always take part, but fill at most half the places.

    Best first; with `also_first`, all files of `also` come first, without a limit. `keep` drops
    files that a filter excludes; None if nothing is filtered.
    """
    text, complete = _text_scores(corpus, terms, None if keep else WANTED)
    # Enough contents score at least this by text alone, so no file below can be among the best.
    floor = 0.0 if keep else _floor(complete, WANTED)
    best = _best(corpus, complete, floor)
    ordered = _ordered(corpus, text, _path_scores(corpus, terms), (best, also), floor)
    if also:
        forced = {file.path_id for file in also}
        first = [file for file in ordered if file.path_id in forced]
        if not also_first:
            del first[WANTED // 2 :]
        forced = {file.path_id for file in first}
        ordered = first + [file for file in ordered if file.path_id not in forced]
    return _filtered(ordered, keep) if keep else ordered[:WANTED]


def _ordered(
    corpus: Corpus,
    text: _Scores,
    paths: Mapping[int, float],
    files: tuple[Sequence[int], Sequence[FileRow]],
    floor: float,
) -> list[FileRow]:
    """Return files not below `floor` by text and path, best first.

    `files` are the contents that may not be below `floor`, and files that are always returned.
    """
    best, also = files
    scored: dict[int, tuple[float, bytes, FileRow]] = {}

    def consider(file: FileRow, floor: float) -> None:
        place = corpus.place.get(file.content) if file.content is not None else None
        score = text[place[0]][place[1]] if place and place[0] in text else 0.0
        score += paths.get(file.path_id, 0.0)
        if score >= floor:
            scored[file.path_id] = (-score, file.path, file)

    for content in best:
        for file in corpus.files_of[content]:
            consider(file, floor)
    for number in paths:
        consider(corpus.by_path_id[number], floor)
    for file in also:
        consider(file, 0.0)
    return [file for _, _, file in sorted(scored.values())]


def _filtered(ordered: list[FileRow], keep: Keep) -> list[FileRow]:
    files: list[FileRow] = []
    for start in range(0, len(ordered), WANTED):
        files.extend(keep(ordered[start : start + WANTED]))
        if len(files) >= WANTED:
            break
    return files[:WANTED]


def whole_scores(corpus: Corpus, terms: Sequence[Weighed]) -> dict[int, float]:
    """Return content -> whole-file score as a share of the best, without zero scores."""
    scores, _ = _text_scores(corpus, terms, None)
    top = max(chain.from_iterable(map(_values, scores.values())), default=0.0)
    return {
        corpus.segments[number].contents[at]: score / top
        for number, scores_of_segment in scores.items()
        for at, score in _numbered(scores_of_segment)
        if score > 0.0
    }


def _values(scores: _SegmentScores) -> Iterable[float]:
    return scores if isinstance(scores, list) else scores.values()


def _numbered(scores: _SegmentScores) -> Iterable[tuple[int, float]]:
    """Return the documents' numbers with their scores."""
    return enumerate(scores) if isinstance(scores, list) else scores.items()


def _text_scores(
    corpus: Corpus, terms: Sequence[Weighed], file_count: int | None
) -> tuple[_Scores, _Scores]:
    """Compute BM25F of whole files, rarest terms first; return all scores and the complete ones.

    With `file_count`, a score is complete only if the file can be among the best (MaxScore: Turtle
    and Flood, "Query evaluation: strategies and optimizations", 1995): once the remaining terms
    cannot lift other files there, they are looked up only for those few. After `_WALKED` postings
    only the best so far are complete.
    """
    scores: _Scores = {}
    ordered = sorted(
        (term for term in terms if term.hits), key=lambda term: (-term.weight, term.text)
    )
    left = sum(term.weight for term in ordered) * (K1 + 1.0)
    tests = [left / 2, left / 4] if file_count is not None else []
    walked = 0
    for at, term in enumerate(ordered):
        assert term.hits is not None
        walked += term.hits.files
        if at and file_count is not None and walked > _WALKED:
            floor = _floor(scores, _FINISHED)
            if floor > 0 and (few := _finish(corpus, scores, ordered[at:], floor)):
                return scores, few
        # This test costs as much as adding a term that a third of the files have.
        if tests and left <= tests[0] and term.hits.files > _WORTH_PRUNING:
            del tests[0]
            floor = _floor(scores, file_count or 1) - left
            if floor > 0 and (few := _finish(corpus, scores, ordered[at:], floor)):
                return scores, few
        left -= term.weight * (K1 + 1.0)
        for number, row in term.hits.rows.items():
            segment = corpus.segments[number]
            segment_scores = scores.get(number)
            is_dense = row.doc_count * _DENSE > len(segment.body)
            if segment_scores is None or (is_dense and not isinstance(segment_scores, list)):
                segment_scores = scores[number] = _room(segment, segment_scores, dense=is_dense)
            _add(segment_scores, row, segment, term.weight)
    return scores, scores


def _room(segment: Segment, before: _SegmentScores | None, *, dense: bool) -> _SegmentScores:
    """Return scores of a segment with the values of `before`."""
    if not dense:
        return defaultdict(float)
    scores = [0.0] * len(segment.body)
    for doc, score in _numbered(before or {}):
        scores[doc] = score
    return scores


def _add(scores: _SegmentScores, row: Posting, segment: Segment, weight: float) -> None:
    """Add one term's share; the only loop over every document with a term.

    The same sum as `_count`, inlined: a call would cost more than the rest.
    """
    body, names, notes = segment.body, segment.names, segment.docs
    top = weight * (K1 + 1.0)
    for doc, total in zip(row.docs, row.totals, strict=True):
        count = (total >> 16) * body[doc]
        if total & 0xFFFF:
            count = (
                count
                + (total & 0xFF) * ranking_weights.NAME_WEIGHT * names[doc]
                + (total >> 8 & 0xFF) * ranking_weights.DOC_WEIGHT * notes[doc]
            )
        scores[doc] += top * count / (count + K1)


def _count(total: int, segment: Segment, doc: int) -> float:
    return (
        (total >> 16) * segment.body[doc]
        + (total & 0xFF) * ranking_weights.NAME_WEIGHT * segment.names[doc]
        + (total >> 8 & 0xFF) * ranking_weights.DOC_WEIGHT * segment.docs[doc]
    )


def _floor(scores: _Scores, file_count: int) -> float:
    """Return the `file_count`-th best score; 0 if there are fewer."""
    best: list[float] = []
    floor = 0.0
    for segment_scores in scores.values():
        best += [score for score in _values(segment_scores) if score > floor]
        if len(best) > _SORTED_AT * file_count:
            best.sort(reverse=True)
            del best[file_count:]
            floor = best[-1]
    best.sort(reverse=True)
    return best[file_count - 1] if len(best) >= file_count else 0.0


def _finish(corpus: Corpus, scores: _Scores, terms: Sequence[Weighed], floor: float) -> _Scores:
    """Add the remaining terms to the documents not below `floor`, and return these.

    If there are many, add nothing and return nothing.
    """
    few = {
        number: [doc for doc, score in _numbered(segment_scores) if score >= floor]
        for number, segment_scores in scores.items()
    }
    if sum(map(len, few.values())) > _FEW_LEFT:
        return {}
    for number, docs in few.items():
        segment_scores, segment = scores[number], corpus.segments[number]
        for term in terms:
            row = term.hits.rows.get(number) if term.hits else None
            for doc in docs if row else ():
                total = row.total(doc) if row else 0
                if total:
                    count = _count(total, segment, doc)
                    segment_scores[doc] += term.weight * (K1 + 1.0) * count / (count + K1)
    return {number: {doc: scores[number][doc] for doc in docs} for number, docs in few.items()}


def _path_scores(corpus: Corpus, terms: Sequence[Weighed]) -> dict[int, float]:
    """Score paths by path id; each term counts once, like a frequent word of the text."""
    scores: dict[int, float] = {}
    most = max(_COMMON_IN_PATHS * corpus.file_count, WANTED)
    for term in terms:
        if len(term.named) <= most:
            for number in term.named:
                scores[number] = scores.get(number, 0.0) + term.weight
    return scores


def _best(corpus: Corpus, scores: _Scores, floor: float) -> list[int]:
    """Return contents with a score not below `floor` and above 0."""
    return [
        corpus.segments[number].contents[at]
        for number, segment_scores in scores.items()
        for at, score in _numbered(segment_scores)
        if score >= floor and score
    ]
