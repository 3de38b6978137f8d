"""The first stage: the files of a view that may answer, by whole-file BM25F.

Scores here only choose; the second stage (`codelens.rank.scoring.definition_features`) scores
again. What is chosen follows from the view alone: sums run in the order of the terms' weights,
ties break by path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from codelens.rank import ranking_weights
from codelens.rank.query.query_analysis import MAX_TERMS, Term
from codelens.rank.ranking_weights import K1
from codelens.rank.scoring import term_hits
from codelens.rank.scoring.term_hits import Hits
from codelens.rank.view_statistics import Corpus, Segment
from codelens.store.facts.posting_layout import Posting
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow

if TYPE_CHECKING:
    from codelens.rank.common_scale import CommonScale

WANTED = 100
"""Files that get a closer look. The 200 best chunks hold .995 of the relevant files of
the retrieval benchmark; on its 25 repositories 80 files rank as well as 200."""
_COMMON_IN_PATHS = 0.2
"""A path term of more files than this share tells too little to choose by."""
_WORTH_PRUNING = 2000
"""Postings of a term that make it worth to look first who can still be among the best."""
_FEW_LEFT = 2000
"""So many documents are cheaper to look up one by one than a row of postings is to walk."""
_WALKED = 40_000
"""Postings that are walked, rarest terms first; of the terms left only `_FINISHED` documents get
theirs. Below this a choice is exact. Above, .999 of the 30 best documents and .987 of the 120 best
stay the same (simulated: 89 queries on Linux, 52,000 files)."""
_FINISHED = 1000
"""Documents, the best by the terms walked, that get the rest looked up."""
_SORTED_AT = 4
"""The best scores are sorted whenever there are this many times as many as wanted."""

Keep = Callable[[list[FileRow]], list[FileRow]]


class Weighed(NamedTuple):
    """A term of the query with what the view says of it."""

    text: str
    weight: float
    """The term's own weight times its IDF."""
    hits: Hits | None
    named: frozenset[int]
    """Path ids of files whose stem or folders have the term."""


_Scores = dict[int, list[float]]
"""For each segment a score for each of its documents."""


def weigh(
    view: Snapshot, corpus: Corpus, terms: Sequence[Term], common: CommonScale | None = None
) -> tuple[list[Weighed], int]:
    """The terms that the view knows, with their weights; at most `MAX_TERMS`, the rarest.

    With `common` those that any of its views knows, by how rare they are in all of them. Second,
    how many were left out for that.
    """
    texts = [term.text for term in terms]
    read = term_hits.read(view.db, corpus, texts)
    paths = view.paths_with_terms(texts)
    weighed: list[Weighed] = []
    named = {text: frozenset(file.path_id for file in paths.get(text, ())) for text in texts}
    having = {
        text: min(max(known.files if (known := read.get(text)) else 0, len(named[text])),
                  corpus.file_count)
        for text in texts
    }  # fmt: skip
    file_count = corpus.file_count
    if common is not None:
        file_count, having = common.pooled(view, file_count, having)
    for term in terms:
        hits = read.get(term.text)
        if hits is not None or having[term.text]:
            idf = term_hits.idf(file_count, having[term.text])
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
    """The best files; those of `also` come in whatever their score, but take up half at most.

    Best first; with `also_first` those of `also` before all others, and without a bound. `keep`
    drops files that a filter excludes; None where nothing is filtered.
    """
    text = _text_scores(corpus, terms, None if keep else WANTED)
    # So many contents are as good by their text alone: no file below can be among the best.
    floor = 0.0 if keep else _floor(text, WANTED)
    ordered = _ordered(corpus, text, _path_scores(corpus, terms), also, floor)
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
    also: Sequence[FileRow],
    floor: float,
) -> list[FileRow]:
    """Files that are not below `floor` by text and path, and all of `also`; best first."""
    scored: dict[int, tuple[float, bytes, FileRow]] = {}

    def consider(file: FileRow, floor: float) -> None:
        place = corpus.place.get(file.content) if file.content is not None else None
        score = text[place[0]][place[1]] if place and place[0] in text else 0.0
        score += paths.get(file.path_id, 0.0)
        if score >= floor:
            scored[file.path_id] = (-score, file.path, file)

    for content in _best(corpus, text, floor):
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
    """Content -> its whole-file score as a share of the best; those without any left out."""
    scores = _text_scores(corpus, terms, None)
    top = max(chain.from_iterable(scores.values()), default=0.0)
    return {
        corpus.segments[number].contents[at]: score / top
        for number, known in scores.items()
        for at, score in enumerate(known)
        if score > 0.0
    }


def _text_scores(corpus: Corpus, terms: Sequence[Weighed], file_count: int | None) -> _Scores:
    """BM25F of whole files, rarest terms first.

    With `file_count` a score is complete only where a file can be among so many best (MaxScore:
    Turtle and Flood, "Query evaluation: strategies and optimizations", 1995): once the terms left
    cannot lift the others there, they are looked up for the few alone. After `_WALKED` postings
    it is complete for the best so far.
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
            if floor > 0 and _finish(corpus, scores, ordered[at:], floor):
                break
        # A test costs as much as a term of a third of the files.
        if tests and left <= tests[0] and term.hits.files > _WORTH_PRUNING:
            del tests[0]
            floor = _floor(scores, file_count or 1) - left
            if floor > 0 and _finish(corpus, scores, ordered[at:], floor):
                break
        left -= term.weight * (K1 + 1.0)
        for number, row in term.hits.rows.items():
            segment = corpus.segments[number]
            known = scores.get(number)
            if known is None:
                known = scores[number] = [0.0] * len(segment.body)
            _add(known, row, segment, term.weight)
    return scores


def _add(scores: list[float], row: Posting, segment: Segment, weight: float) -> None:
    """Add one term's share; the one loop over every document that holds a term.

    The same sum as `_count`, written out: a call costs more than all the rest.
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
    """The wanted-th best score; 0 where there are fewer."""
    best: list[float] = []
    floor = 0.0
    for known in scores.values():
        if max(known) > floor:
            best += [score for score in known if score > floor]
            if len(best) > _SORTED_AT * file_count:
                best.sort(reverse=True)
                del best[file_count:]
                floor = best[-1]
    best.sort(reverse=True)
    return best[file_count - 1] if len(best) >= file_count else 0.0


def _finish(corpus: Corpus, scores: _Scores, terms: Sequence[Weighed], floor: float) -> bool:
    """Add the last terms to the documents that are not below `floor`, if they are few."""
    few = {
        number: [doc for doc, score in enumerate(known) if score >= floor]
        for number, known in scores.items()
        if max(known) >= floor
    }
    if sum(map(len, few.values())) > _FEW_LEFT:
        return False
    for number, docs in few.items():
        known, segment = scores[number], corpus.segments[number]
        for term in terms:
            row = term.hits.rows.get(number) if term.hits else None
            for doc in docs if row else ():
                total = row.total(doc) if row else 0
                if total:
                    count = _count(total, segment, doc)
                    known[doc] += term.weight * (K1 + 1.0) * count / (count + K1)
    return True


def _path_scores(corpus: Corpus, terms: Sequence[Weighed]) -> dict[int, float]:
    """By path id; counted once a term, as much as a word of the text that stands there often."""
    scores: dict[int, float] = {}
    most = max(_COMMON_IN_PATHS * corpus.file_count, WANTED)
    for term in terms:
        if len(term.named) <= most:
            for number in term.named:
                scores[number] = scores.get(number, 0.0) + term.weight
    return scores


def _best(corpus: Corpus, scores: Mapping[int, list[float]], floor: float) -> list[int]:
    """Contents that have a score, not below `floor`."""
    if not floor:
        return [
            corpus.segments[number].contents[at]
            for number, known in scores.items()
            for at, score in enumerate(known)
            if score
        ]
    return [
        corpus.segments[number].contents[at]
        for number, known in scores.items()
        if max(known) >= floor
        for at, score in enumerate(known)
        if score >= floor
    ]
