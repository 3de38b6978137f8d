"""Splits messages and log lines into constants and values, and finds the code that writes them.

The source contains `"Connection to %s failed after %d retries"`; the log contains the values
instead. Values are numbers, words with digits, quoted words, paths, addresses, times and ids.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from codelens.extract.tokenizer import STOPWORDS, WORD, terms_of_word
from codelens.rank import ranking_weights
from codelens.rank.modes import line_scan
from codelens.rank.pasted import location_context
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.search_request import Ranked
from codelens.rank.search_state import SearchState
from codelens.rank.view_statistics import Corpus, corpus_of
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow
from codelens.wording import some_of

MAX_CHARS = 2_000
_MAX_WORDS = 60
_LINES = 3
_LEAST_WORDS, _LEAST_TOLD = 3, 2
_SHOWN_VALUES = 6

_LOUD = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|CRITICAL|CRIT|FATAL|SEVERE|ALERT|PANIC)"
_QUIET = r"(?:trace|debug|info|notice|warn|warning|error|critical|fatal|panic)"
_TIME = (
    r"(?:\d{4}[-/]\d\d?[-/]\d\d?|\d\d?/[A-Z][a-z]{2}/\d{4}|[A-Z][a-z]{2} [ \d]\d)?"
    r"[T :]?\d\d?:\d\d(?::\d\d)?"
    r"(?:[.,]\d+)?(?: ?Z| ?[+-]\d\d:?\d\d| UTC)?"
)
_TAGS = r"(?:\[[^\]]{1,60}\][\s:]*)*"
_PREFIX = re.compile(
    rf"\s*(?:(?:\[?{_TIME}\]?|\d{{10,13}}(?:\.\d+)?)[\s,:;|-]*)?"
    rf"(?:(?:[\w.-]+ )?[\w./-]+\[\d+\]: )?{_TAGS}"
    rf"(?:\(?\[?{_LOUD}\]?\)?(?=[\s:\]/|-])[\s:|/-]*|[(\[]?{_QUIET}[\])]?\s*(?:[:|]|(?<=[\])]))\s*)?{_TAGS}"
)
_LOGGER = re.compile(r"[A-Za-z_][\w$-]*(?:[./][\w$-]+)+(?::\d+)?\s*[:-]\s+")
_CLASS = re.compile(
    r"(?:[A-Za-z_][\w$]*[.\\:]{1,2})*[A-Z]\w*(?:Error|Exception|Warning|Failure|Fault)(?:\s*\[\w+\])?:\s+"
)
_ERROR = re.compile(
    r"(?:(?:fatal|FATAL|[Ee]rror|ERROR|[Ww]arning|panic|PANIC)(?:\s*\[?[A-Z]+\d+\]?)?:\s+"
    r"|Caused by: |Uncaught |Unhandled exception[.:] |Exception in thread \S+ )+"
)
_VALUE = re.compile(
    rf"(?P<time>(?<![\w.]){_TIME}(?![\w.]))"
    r"|(?P<quoted>\"[^\"\n]{0,200}\"|`[^`\n]{1,200}`|(?<![^\W_])'[^'\n]{0,200}'(?![^\W_])|«[^»\n]*»|“[^”\n]*”)"
    r"|(?P<id>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b)"
    r"|(?P<url>\b[a-z][a-z+.-]*://\S+)"
    r"|(?P<mail>[\w.+-]+@[\w-]+\.[\w.]+)"
    r"|(?P<path>(?<![\w/])(?:[A-Za-z]:\\|~?/|\./|\.\./)[^\s,;:'\"()]+|\b[\w.-]+(?:/[\w.-]+)+\.\w+)"
    r"|(?P<repr><[^<>\n]{1,200}>)"
    r"|(?P<hex>\b0x[0-9a-fA-F]+\b)"
    r"|(?P<number>(?<!\w)[-+]?\d[\w.,:%+-]*\w%?|(?<!\w)[-+]?\d%?)"
    r"|(?P<mixed>\b[^\W_]+(?:[-.:][^\W_]+)*[-.:]?\d[\w.:-]*\w\b|\b[A-Za-z]+-\d+\b|\b[A-Za-z]+\d+\b)"
    r"|(?P<dotted>(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?:\(\))?)"
    r"|(?P<hash>\b(?=[a-f]*\d)[0-9a-f]{7,64}\b)"
)
_ASKING = re.compile(
    r"(?:how|what|where|why|which|when|who|does|do|is|are|can i|find|show|explain|list|use|using)\b"
    r"|(?:add|fix|fixe|implement|refactor|remove|make|made|change|update|improve|allow|support|prevent"
    r"|move|rename|replace|simplify|simplifie|bump|revert)(?:e?d|e?s)?\b",
    re.IGNORECASE,
)
"""First words of a person's query: a question word, or a verb for a change."""
_WRONG = re.compile(
    r"\b(?:cannot|can't|could not|couldn't|failed|failure|unable|not|isn't|aren't|wasn't"
    r"|doesn't|don't"
    r"|didn't|invalid|illegal|missing|unexpected|expected|unknown|unsupported|unrecognized|must|denied"
    r"|refused|forbidden|exceeded|already|timed out|no such"
    r"|too (?:many|few|large|long|short)|required"
    r"|deprecated|no longer|conflicts?|aborted|refusing|undefined|unreachable|nothing to)\b(?!-)"
    r"|^no (?=\w)",
    re.IGNORECASE,
)
"""Words in error messages of programs; a person's query rarely has them."""
_NAMING = frozenset("quoted dotted".split())
"""Kinds of values that may be names in a person's query."""
_STRONG = frozenset("time url path repr hex hash id".split())
_LEADING = re.compile(r"[\s\-*>#]*")


class Message(NamedTuple):
    """A text written by a program, split into its parts."""

    error: str
    """Error class before the text, without modules; empty if none."""
    runs: tuple[str, ...]
    """Texts between the values, in order, as written; each has a word."""
    values: tuple[str, ...]
    """Texts recognised as values."""
    naming: tuple[str, ...]
    """Values that may be names in a person's query."""
    has_head: bool
    """Whether a prefix is typical of programs: a time, a level, a class."""
    filled: bool
    """Whether a program certainly wrote it; else it may be a person's sentence."""

    @property
    def words(self) -> tuple[str, ...]:
        """Return the constant words, in order."""
        return tuple(word for run in self.runs for word in WORD.findall(run))

    @property
    def constant(self) -> str:
        """Return the text to rank: without values, but with names unless a program wrote it."""
        return " ".join((*self.runs, *(() if self.has_head else self.naming)))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return the values that are not ranked."""
        return (
            self.values if self.has_head else tuple(v for v in self.values if v not in self.naming)
        )


_MOST_BLANKS = 60
"""A text with more words is a person's question or note, unless it has a program's prefix."""


def parse_message(text: str) -> Message | None:
    """Parse a message; None if the text looks like a person's query."""
    lines = [line for line in text.strip()[:MAX_CHARS].splitlines() if line.strip()]
    if not lines or len(lines) > _LINES:
        return None
    body, named, has_head = _without_head(" ".join(lines))
    if not has_head and (_ASKING.match(body) or body.count(" ") > _MOST_BLANKS):
        return None
    runs, values, naming, strong = _taken_apart(body)
    if body.endswith("?") and not (has_head or strong):
        return None
    wrong = bool(_WRONG.search(body))
    # A capitalised sentence with a quotation; questions were excluded above.
    quoting = body[:1].isupper() and any(value[0] in "'`" for value in values)
    filled = has_head or strong or (bool(values) and wrong) or quoting
    message = Message(named, runs, values, naming, has_head, filled)
    words = message.words
    topics = [word for word in words if word.lower() not in STOPWORDS]
    if not topics or len(words) < (_LEAST_TOLD if has_head else _LEAST_WORDS):
        return None
    return message if filled or wrong else None


def _without_head(text: str) -> tuple[str, str, bool]:
    """Return the message, the error class, and whether there was a prefix."""
    body = text
    for form in (_LEADING, _PREFIX, _ERROR):
        match = form.match(body)
        body = body[match.end() :] if match else body
    error = _CLASS.match(body)
    if error is None:
        logger = _LOGGER.match(body)
        if logger and len(body) < len(text.strip()):
            body = body[logger.end() :]
            error = _CLASS.match(body)
    has_head = len(body) < len(text.lstrip(" -*>#\t"))
    if error is None:
        return body.strip(), "", has_head
    name = re.split(r"[.\\:]+", error[0].split("[")[0].rstrip(": "))[-1]
    return body[error.end() :].strip(), name, True


def _taken_apart(
    text: str,
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], bool]:
    """Return runs, values, possible names, and whether one is a value that nobody types."""
    strong = False
    runs: list[str] = []
    values: list[str] = []
    naming: list[str] = []
    at = 0
    for match in _VALUE.finditer(text):
        runs.append(text[at : match.start()])
        values.append(match[0])
        if match.lastgroup in _NAMING:
            naming.append(match[0])
        strong = strong or match.lastgroup in _STRONG
        at = match.end()
    runs.append(text[at:])
    lines_kept: list[str] = []
    left = _MAX_WORDS
    for run in runs:
        words = len(WORD.findall(run))
        if words and left > 0:
            lines_kept.append(run.strip())
            left -= words
    return (
        tuple(lines_kept),
        tuple(value for value in values if value.strip()),
        tuple(naming),
        strong,
    )


def shown_values(message: Message) -> str:
    """Return the omitted values of a message for a note."""
    shown = [value if len(value) <= 40 else value[:37] + "..." for value in message.left_out]
    return some_of(shown, _SHOWN_VALUES)


# Finds where a view writes a message: most of its constant words, in order, close together.
#
# Postings choose a bounded number of files, which are then read; a file counts as the source only
# if the message was found in its text.

READ_FILES = 40
"""Maximum number of files to read."""
_READ_BYTES = 3_000_000
_CLOSE_LOOK = 300
"""Number of contents whose chunks are compared, by their share of the message's words."""
_NEAR_BYTES = 600
"""Maximum distance of a message's end from any of its words in the source."""
_GAP = 12
"""Maximum number of source words between two words of a message: value names, line quotes."""
_SEEN_PLACES = 10
_ANCHORS = 3
_SETTLED = 12
"""Number of files read after one that certainly writes the message."""
_ENOUGH, _SURE = 0.6, 0.85
"""Minimum weighted share of the constant words: of a message with values; of a text that may be a
person's sentence."""
_LEAST_RUN = 3
_IN_ONE_CHUNK = 0.7
"""A chunk must have this share of the minimum, since a message may cross its end."""
_COMMON, _TERMS = 0.2, 8
"""Number of terms that choose files, and their maximum share of files."""
_TRANSLATED = (b".po", b".pot", b".xliff", b".xlf", b".arb", b".strings", b".resx", b".ftl")
_TOP = 10.0
_ROUNDING = 1e-9
_ALL = 0.99


class Said(NamedTuple):
    """A place with a message's constant words."""

    file: FileRow
    line: int
    share: float
    """Weighted share of the constant words that are there in order."""
    pushed: bool
    """The file has a role that the query does not ask for: a test, a page of docs."""


class _Word(NamedTuple):
    text: str
    weight: float


def places(state: SearchState, message: Message, terms: Sequence[Weighed]) -> list[Said]:
    """Return the places that write the message, best first: production code, then by share.

    Files with a role that the query asks for count as production code.
    """
    words = _words(message, terms)
    if not words:
        return []
    # Any two words are adjacent in many texts, so signs and capitals must match, too.
    literal = max(message.runs, key=len).encode() if len(words) < _LEAST_RUN else b""
    # Values separate the words, so fewer of them can be adjacent.
    least = min(_LEAST_RUN, max(len(WORD.findall(run)) for run in message.runs))
    ranked_origins: list[tuple[tuple[bool, bool, float, int], Said]] = []
    size = 0
    enough = _ENOUGH if message.filled else _SURE
    files = _likely(state, terms, enough * _IN_ONE_CHUNK)
    pushed = _pushed_down(state.view, files, state.query.roles)
    stop = len(files)
    for order, file in enumerate(files):
        if order >= stop:
            break
        data = state.read(file)
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
    # Translation catalogues repeat the texts of the source.
    return [origin for _, origin in ranked_origins if not origin.file.path.endswith(_TRANSLATED)]


def _literal_place(data: bytes, literal: bytes) -> tuple[float, int]:
    place = data.find(literal)
    return (1.0, data.count(b"\n", 0, place) + 1) if place >= 0 else (0.0, 0)


def _words(message: Message, terms: Sequence[Weighed]) -> list[_Word]:
    """Weigh the constant words: rare words have a high weight, stopwords a low one."""
    weight_of = {term.text: term.weight for term in terms}
    least = min(weight_of.values(), default=1.0)
    words: list[_Word] = []
    for word in message.words:
        weights = [weight_of[term] for term in terms_of_word(word) if term in weight_of]
        if weights:
            weight = max(weights)
        elif word.lower() in STOPWORDS:
            weight = least / 4
        else:
            weight = max(weight_of.values(), default=1.0)  # a value that was not recognised
        words.append(_Word(word.lower(), weight))
    return words if any(terms_of_word(word.text) for word in words) else []


def _likely(state: SearchState, terms: Sequence[Weighed], least: float) -> list[FileRow]:
    """Sort files by the weight of the words that one of their chunks contains together.

    `least` is the share that a chunk must have.
    """
    corpus = corpus_of(state.view)
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
    files = state.keep(files) if state.keep else files
    pushed = _pushed_down(state.view, files, state.query.roles)
    first = [file for file in files if file.path_id not in pushed][: READ_FILES * 3 // 4]
    rest = [file for file in files if file.path_id in pushed]
    return [*first, *rest][:READ_FILES]


def _rarest(corpus: Corpus, terms: Sequence[Weighed]) -> list[Weighed]:
    """Return the most selective terms; common ones only if there are too few others."""
    sorted_terms = sorted(
        (term for term in terms if term.hits),
        key=lambda ranked_origin: (-ranked_origin.weight, ranked_origin.text),
    )
    rare = [
        term
        for term in sorted_terms
        if term.hits and term.hits.files <= _COMMON * corpus.file_count
    ]
    return (rare if len(rare) >= _LEAST_RUN else sorted_terms)[:_TERMS]


def _holding(corpus: Corpus, terms: Sequence[Weighed], least: float) -> list[tuple[int, int]]:
    """Return segment and number of contents with terms of a total weight, heaviest first."""
    scores: dict[int, list[float]] = {}
    for term in terms:
        for number, row in term.hits.rows.items() if term.hits else ():
            segment_scores = scores.get(number)
            if segment_scores is None:
                segment_scores = scores[number] = [0.0] * len(corpus.segments[number].contents)
            weight = term.weight
            for doc in row.docs:
                segment_scores[doc] += weight
    ranked_files = [
        (-score, corpus.files_of[corpus.segments[number].contents[doc]][0].path, number, doc)
        for number, segment_scores in scores.items()
        for doc, score in enumerate(segment_scores)
        if score >= least and corpus.segments[number].body[doc]
    ]
    ranked_files.sort()
    return [(number, doc) for _, _, number, doc in ranked_files[:_CLOSE_LOOK]]


def _pushed_down(view: Snapshot, files: Sequence[FileRow], roles: frozenset[str]) -> set[int]:
    """Return the path ids outside of production code: by role, and translation catalogues."""
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
    """Return the share of words in order near one line, and that line; 0 if none.

    Searches around the rarest words that the text has. At least `least` of the words must be
    adjacent; otherwise the text may only be on the same topic. A share below `enough` may be
    underestimated.
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
                if _upper_bound(text[low:high], worth) >= max(best, enough) * total - _ROUNDING:
                    weight, run = _weight_near(text, place, words, at)
                    if run >= least and weight / total > best:
                        best, line = weight / total, text.count(b"\n", 0, place) + 1
            last = place
            place = text.find(wanted_word, place + len(wanted_word))
        if tried == _ANCHORS or best > _SURE:
            break
    return best, line


def _upper_bound(near: bytes, worth: Sequence[tuple[bytes, float]]) -> float:
    """Return the weight of nearby words in any order: an upper bound for those in order."""
    return sum(weight for word, weight in worth if word in near)


def _weight_near(text: bytes, place: int, words: Sequence[_Word], at: int) -> tuple[float, int]:
    """Return the weight of the words in order around a place, and their longest run."""
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
    """Return the weight of words in order, their longest run, and the run at the start."""
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


def results(state: SearchState, origins: Sequence[Said]) -> list[Ranked]:
    """Return the places as results, one per file, in order."""
    ranked_hits: list[Ranked] = []
    for number, origin in enumerate(origins):
        text = state.read(origin.file)
        spot = location_context.at_line(state.view, origin.file, origin.line, text=text)
        if spot is None:
            continue
        share = int(100 * origin.share)
        words = "the message" if origin.share > _ALL else f"{share} % of the message"
        place = f"line {origin.line}"
        shares = {"message": _TOP - number * 0.01}
        line = location_context.line_of(text, origin.line)
        ranked = location_context.shown(
            state.view, origin.file, spot, f"{words}, {place}", line,
            shares=shares, explain=state.request.explain,
        )  # fmt: skip
        ranked_hits.append(ranked)
    return ranked_hits
