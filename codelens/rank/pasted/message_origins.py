"""Where in a view a message is written: most of its constant words, in order, close together.

Chosen by postings, then read, a bounded number of files; nothing is said to be the source of a
message that was not seen there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from codelens.extract.tokenizer import STOPWORDS, WORD, terms_of_word
from codelens.rank import ranking_weights
from codelens.rank.modes import line_scan
from codelens.rank.pasted import location_context
from codelens.rank.pasted.error_messages import Message
from codelens.rank.scoring.candidates import Keep, Weighed
from codelens.rank.search_request import Ranked, Request
from codelens.rank.view_statistics import Corpus
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow

READ_FILES = 40
"""Files that are read at most."""
_READ_BYTES = 3_000_000
_CLOSE_LOOK = 300
"""Contents whose chunks are compared, by the share of the message's words that they hold."""
_NEAR_BYTES = 600
"""A message in the source reaches no further from any of its words."""
_GAP = 12
"""Words of the source that may stand between two of a message: names of values, quotes of lines."""
_SEEN_PLACES = 10
_ANCHORS = 3
_SETTLED = 12
"""So many files are read after one that surely writes the message."""
_ENOUGH, _SURE = 0.6, 0.85
"""Share of the constant words, by weight, that a place must have: of a message with values; of a
text that may as well be a sentence of a person."""
_LEAST_RUN = 3
_IN_ONE_CHUNK = 0.7
"""So much of what is enough must stand in one chunk; a message may go over its end."""
_COMMON, _TERMS = 0.2, 8
"""Files are chosen by so many terms, and by those of fewer files than this share."""
_TRANSLATED = (b".po", b".pot", b".xliff", b".xlf", b".arb", b".strings", b".resx", b".ftl")
_TOP = 10.0
_ROUNDING = 1e-9
_ALL = 0.99

Read = Callable[[FileRow], bytes | None]


class Said(NamedTuple):
    """A place that has a message's constant words."""

    file: FileRow
    line: int
    share: float
    """Of the constant words, by weight, those that stand there in order."""
    pushed: bool
    """The file has a role that the query does not ask for: a test, a page of docs."""


class _Word(NamedTuple):
    text: str
    weight: float


def places(
    view: Snapshot,
    corpus: Corpus,
    message: Message,
    terms: Sequence[Weighed],
    *,
    keep: Keep | None,
    read: Read,
    roles: frozenset[str],
) -> list[Said]:
    """Places that write the message, best first: production code before the rest, then by share.

    Files of one of `roles` count as production code: the query asks for them.
    """
    words = _words(message, terms)
    if not words:
        return []
    # Two words stand together everywhere: then signs and capitals must agree as well.
    literal = max(message.runs, key=len).encode() if len(words) < _LEAST_RUN else b""
    # Between values only so many words stand beside each other.
    least = min(_LEAST_RUN, max(len(WORD.findall(run)) for run in message.runs))
    ranked_origins: list[tuple[tuple[bool, bool, float, int], Said]] = []
    size = 0
    enough = _ENOUGH if message.filled else _SURE
    files = _likely(view, corpus, terms, keep, roles=roles, least=enough * _IN_ONE_CHUNK)
    pushed = _pushed_down(view, files, roles)
    stop = len(files)
    for order, file in enumerate(files):
        if order >= stop:
            break
        data = read(file)
        if data is None or not line_scan.is_text(data):
            continue
        size += len(data)
        if size > _READ_BYTES and order:
            break
        share, line = (
            _literal_place(data, literal) if literal else best_place(data, words, least, enough)
        )
        if share >= enough:
            key = (file.path_id in pushed, share < _SURE, -share, order)
            ranked_origins.append((key, Said(file, line, share, key[0])))
            if share >= _SURE and file.path_id not in pushed:
                stop = min(stop, order + _SETTLED)
    ranked_origins.sort(key=lambda ranked_origin: ranked_origin[0])
    # Catalogues of translations repeat what the source writes.
    return [origin for _, origin in ranked_origins if not origin.file.path.endswith(_TRANSLATED)]


def _literal_place(data: bytes, literal: bytes) -> tuple[float, int]:
    place = data.find(literal)
    return (1.0, data.count(b"\n", 0, place) + 1) if place >= 0 else (0.0, 0)


def _words(message: Message, terms: Sequence[Weighed]) -> list[_Word]:
    """The constant words with what each is worth: rare ones much, stopwords a little."""
    known = {term.text: term.weight for term in terms}
    least = min(known.values(), default=1.0)
    words: list[_Word] = []
    for word in message.words:
        mine = [known[term] for term in terms_of_word(word) if term in known]
        if mine:
            weight = max(mine)
        elif word.lower() in STOPWORDS:
            weight = least / 4
        else:
            weight = max(known.values(), default=1.0)  # a value that was not told from the text
        words.append(_Word(word.lower(), weight))
    return words if any(terms_of_word(word.text) for word in words) else []


def _likely(
    view: Snapshot,
    corpus: Corpus,
    terms: Sequence[Weighed],
    keep: Keep | None,
    *,
    roles: frozenset[str],
    least: float,
) -> list[FileRow]:
    """Files by the weight of the words that one chunk of them holds together.

    `least` is the share of it that a chunk must have.
    """
    rare = _rarest(corpus, terms)
    total = sum(term.weight for term in rare)
    together: list[tuple[float, bytes, FileRow]] = []
    for segment, doc in _holding(corpus, rare, total * least):
        chunks: dict[int, float] = {}
        for term in rare:
            row = term.hits.rows.get(segment) if term.hits else None
            for entry in row.entries(doc) if row else ():
                chunks[entry >> 16] = chunks.get(entry >> 16, 0.0) + term.weight
        best = max(chunks.values(), default=0.0)
        if best >= total * least:
            content = corpus.segments[segment].contents[doc]
            together += [(-best, file.path, file) for file in corpus.files_of[content]]
    together.sort(key=lambda ranked_origin: ranked_origin[:2])
    files = [file for _, _, file in together]
    files = keep(files) if keep else files
    pushed = _pushed_down(view, files, roles)
    first = [file for file in files if file.path_id not in pushed][: READ_FILES * 3 // 4]
    rest = [file for file in files if file.path_id in pushed]
    return [*first, *rest][:READ_FILES]


def _rarest(corpus: Corpus, terms: Sequence[Weighed]) -> list[Weighed]:
    """The terms that tell most; common ones only where there are too few others."""
    known = sorted(
        (term for term in terms if term.hits),
        key=lambda ranked_origin: (-ranked_origin.weight, ranked_origin.text),
    )
    rare = [term for term in known if term.hits and term.hits.files <= _COMMON * corpus.file_count]
    return (rare if len(rare) >= _LEAST_RUN else known)[:_TERMS]


def _holding(corpus: Corpus, terms: Sequence[Weighed], least: float) -> list[tuple[int, int]]:
    """Segment and number of the contents that hold terms of a weight together, most first."""
    scores: dict[int, list[float]] = {}
    for term in terms:
        for number, row in term.hits.rows.items() if term.hits else ():
            known = scores.get(number)
            if known is None:
                known = scores[number] = [0.0] * len(corpus.segments[number].contents)
            weight = term.weight
            for doc in row.docs:
                known[doc] += weight
    ranked_files = [
        (-score, corpus.files_of[corpus.segments[number].contents[doc]][0].path, number, doc)
        for number, known in scores.items()
        for doc, score in enumerate(known)
        if score >= least and corpus.segments[number].body[doc]
    ]
    ranked_files.sort()
    return [(number, doc) for _, _, number, doc in ranked_files[:_CLOSE_LOOK]]


def _pushed_down(view: Snapshot, files: Sequence[FileRow], roles: frozenset[str]) -> set[int]:
    """Paths that are no production code: by role, and catalogues of translations."""
    down = ranking_weights.pushed_down(False, roles)
    facts = view.path_facts(file.path_id for file in files)
    return {
        file.path_id
        for file in files
        if facts[file.path_id].role in down or file.path.endswith(_TRANSLATED)
    }


def best_place(
    data: bytes, words: Sequence[_Word], least: int, enough: float = 0.0
) -> tuple[float, int]:
    """The share of the words that stand in order near one line, and that line; 0 if none.

    Looked for around the rarest words that the text has. `least` of the words must stand beside
    each other: else it is a text about the same thing. A share below `enough` may be told as less
    than it is.
    """
    text = data.lower()
    if not all(word.text.isascii() for word in words):
        text = data.decode("utf-8", "replace").lower().encode()
    total = sum(word.weight for word in words)
    worth = [(word.text.encode(), word.weight) for word in words]
    best, line, tried = 0.0, 0, 0
    for at in sorted(range(len(words)), key=lambda at: (-words[at].weight, at)):
        wanted_word = words[at].text.encode()
        place, seen, last = text.find(wanted_word), 0, -1
        tried += place >= 0
        while place >= 0 and seen < _SEEN_PLACES:
            if last < 0 or place - last > len(wanted_word):
                seen += 1
                low, high = max(place - _NEAR_BYTES, 0), place + len(wanted_word) + _NEAR_BYTES
                if _most(text[low:high], worth) >= max(best, enough) * total - _ROUNDING:
                    weight, run = _around(text, place, words, at)
                    if run >= least and weight / total > best:
                        best, line = weight / total, text.count(b"\n", 0, place) + 1
            last = place
            place = text.find(wanted_word, place + len(wanted_word))
        if tried == _ANCHORS or best > _SURE:
            break
    return best, line


def _most(near: bytes, worth: Sequence[tuple[bytes, float]]) -> float:
    """What the words that stand near in any order weigh: no less than those in order."""
    return sum(weight for word, weight in worth if word in near)


def _around(text: bytes, place: int, words: Sequence[_Word], at: int) -> tuple[float, int]:
    """The weight of the words in order around one that stands at a place, and their longest run."""
    size = len(words[at].text.encode())
    low, high = max(place - _NEAR_BYTES, 0), min(place + size + _NEAR_BYTES, len(text))
    behind = WORD.findall(text[place + size : high].decode("utf-8", "replace"))
    before = WORD.findall(text[low:place].decode("utf-8", "replace"))[::-1]
    weight, run = words[at].weight, 1
    best = run
    for neighbours, rest in ((behind, words[at + 1 :]), (before, words[:at][::-1])):
        more, longest, first = _in_order(neighbours, rest)
        weight += more
        run += first
        best = max(best, longest)
    return weight, max(best, run)


def _in_order(pieces: Sequence[str], words: Sequence[_Word]) -> tuple[float, int, int]:
    """Weight of the words found in order; the longest run of neighbours; the run from the start."""
    weight, at, run, best, first = 0.0, 0, 0, 0, 0
    attached = True
    for word in words:
        to = next(
            (to for to in range(at, min(at + _GAP, len(pieces))) if pieces[to] == word.text), -1
        )
        if to < 0:
            run, attached = 0, False
            continue
        if to == at and (run or attached):
            run += 1
        else:
            run, attached = 1, False
        if attached:
            first = run
        best = max(best, run)
        weight += word.weight
        at = to + 1
    return weight, best, first


def results(view: Snapshot, origins: Sequence[Said], request: Request, read: Read) -> list[Ranked]:
    """The places as results, one a file, in their order."""
    ranked_hits: list[Ranked] = []
    for number, origin in enumerate(origins):
        text = read(origin.file)
        spot = location_context.at_line(view, origin.file, origin.line, text=text)
        if spot is None:
            continue
        share = int(100 * origin.share)
        words = "the message" if origin.share > _ALL else f"{share} % of the message"
        lies = f"line {origin.line}"
        shares = {"message": _TOP - number * 0.01}
        line = location_context.line_of(text, origin.line)
        ranked = location_context.shown(
            view, origin.file, spot, f"{words}, {lies}", line=line, shares=shares
        )
        ranked_hits.append(ranked if request.explain else ranked._replace(explain={}))
    return ranked_hits
