"""The postings of a query's terms, read once, and what the view's statistics make of them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
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
"""A look-up in a posting costs about as much as so many steps along it."""


class Hits(NamedTuple):
    """One term in the whole view."""

    rows: Mapping[int, Posting]
    """By segment, in no order that matters."""
    files: int
    """Files of the view that hold the term; a content at two paths counts twice."""


def read_hits(db: Database, corpus: Corpus, terms: Sequence[str]) -> dict[str, Hits]:
    """The postings of each of `terms` that the view holds."""
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
    """How many files of the view a posting stands for."""
    files = segment.files
    if files is None:
        return row.doc_count
    docs, odd = row.docs, segment.odd
    if len(odd) * _LOOK_UP >= len(docs):
        return sum(map(files.__getitem__, docs))
    return len(docs) + sum(files[doc] - 1 for doc in odd if row.total(doc))


def term_idf(total: int, having: int) -> float:
    """BM25's weight of a term that `having` of `total` hold; never negative."""
    return math.log(1.0 + (total - having + 0.5) / (having + 0.5))


# Which paths are one file in several human languages: `locale/de/formats.py`, `README.fr.md`.

_LOCALES = (
    "af ar az be bg bn bs ca ckb cs cy da de el en eo es et eu fa fi fr fy ga gd gl he hi hr hu hy "
    "id ig io is it ja ka kab kk km kn ko ky lb lt lv mk ml mn mr ms my nb ne nl nn no os pa pl pt "
    "ro ru sk sl sq sr sv sw ta te tg th tk tr tt udm ug uk ur uz vi zh"
)
"""ISO 639 codes that software is translated to (those of Django's own list, and a few more)."""
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
    """What the translations of a file share and other files do not; empty if it is none.

    A code of two letters is also a word (`io`, `is`, `my`). So it counts only below a folder that
    says so, in prose, or at the end of the stem of a data file; `README.md` is of the family of
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


# The first stage: the files of a view that may answer, by whole-file BM25F.
#
# Scores here only choose; the second stage (`codelens.rank.scoring.definition_features`) scores
# again. What is chosen follows from the view alone: sums run in the order of the terms' weights,
# ties break by path.

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
    read = read_hits(view.db, corpus, texts)
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
