"""The last step: a place as a result, with why it is there and the line that tells most."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codelens.extract.tokens import WORD, terms_of_word
from codelens.rank import names, weights
from codelens.rank.candidates import Weighed
from codelens.rank.places import Place
from codelens.rank.query import Query
from codelens.rank.request import Ranked
from codelens.store import rankreads as reads
from codelens.store.snapshot import Snapshot
from codelens.store.views import FileRow

Read = Callable[[FileRow], bytes | None]
LINE_CHARS = 300
_LINES_READ = 400


def results(
    view: Snapshot,
    query: Query,
    terms: Sequence[Weighed],
    places: Sequence[Place],
    read: Read,
    *,
    explain: bool,
) -> list[Ranked]:
    """Results in the order of `places`."""
    typed = frozenset(query.typed)
    known = {one.text: one.weight for one in terms if one.text in typed}
    found: list[Ranked] = []
    for place in places:
        file = place.judged.evidence.file
        found.append(
            Ranked(
                file,
                place.start_line,
                place.end_line,
                kind_of(place),
                place.symbol,
                place.score,
                why(place, query, terms),
                _line(view, place, known, read),
                {name: share for name, share in place.shares.items() if share} if explain else {},
            )
        )
    return found


def kind_of(place: Place) -> str:
    """`symbol`, `chunk`, or `file` for a file that is known by its path alone."""
    if place.symbol >= 0:
        return "symbol"
    return "chunk" if len(place.judged.evidence.chunks) else "file"


def why(place: Place, query: Query, terms: Sequence[Weighed]) -> str:
    """A few words: what put a place where it is."""
    one = place.judged.evidence
    said: list[str] = []
    grades = {known.symbol.ordinal: known.grade for known in one.defined}
    if place.symbol in grades:
        said.append(_DEFINES[grades[place.symbol]])
    elif place.symbol >= 0 and one.symbols.cosines[place.symbol] >= weights.SHOWN_COSINE:
        said.append("name matches")
    elif one.defined:
        said.append(f"defines {one.defined[0].symbol.name} elsewhere")
    if one.features["stemcov"] or one.features["stempfx"]:
        said.append("file name matches")
    elif one.features["dircov"]:
        said.append("folder matches")
    typed = list(dict.fromkeys(query.typed))
    numbers = {term.text: number for number, term in enumerate(terms)}
    held = [word for word in typed if word in numbers and one.scored.held >> numbers[word] & 1]
    if len(typed) > 1:
        said.append(f"{len(held)} of {len(typed)} words")
    elif held and not said:
        said.append("text matches")
    return "; ".join(said)


_DEFINES = {
    names.EXACT: "defines it",
    names.CONVENTION: "defines it in another convention",
    names.LAST: "defines the last part of the name",
}


def _line(view: Snapshot, place: Place, known: dict[str, float], read: Read) -> str:
    file = place.judged.evidence.file
    if file.content is None or not len(place.judged.evidence.chunks):
        return ""
    if place.symbol >= 0:
        return reads.signature(view.db, file.content, place.symbol)
    return best_line(read(file) or b"", place.start_line, place.end_line, known)


def best_line(text: bytes, start: int, end: int, known: dict[str, float]) -> str:
    """The line that has most of the terms by weight, the first of equals; stripped and cut."""
    best, line = 0.0, ""
    for one in text.split(b"\n", end)[start - 1 : min(end, start + _LINES_READ)]:
        shown = one[: 4 * LINE_CHARS].decode("utf-8", "replace").strip()
        if not shown:
            continue
        here = {term for word in WORD.findall(shown) for term in terms_of_word(word)}
        weight = sum(known[term] for term in sorted(here & known.keys()))
        if weight > best or not line:
            best, line = weight, shown
    return line[:LINE_CHARS]
