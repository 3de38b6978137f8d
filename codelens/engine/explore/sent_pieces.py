"""Candidates of a capsule that were sent before: their signature takes the place of their lines.

What that leaves of the budget is for others, so a capsule is packed again until it holds nothing
that was sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from codelens.capsule.packing import Candidate, Shown
from codelens.capsule.shown_lines import runs
from codelens.engine.explore.task_candidates import Material
from codelens.engine.sessions.sent_answers import CHANGED, LEAST_SAVED, UNCHANGED
from codelens.paths import printed
from codelens.render.text_pieces import lines_of
from codelens.trail.sent_log import SentBodies

_ROUNDS = 4
_Key = tuple[bytes, int, int, str]
Pack = Callable[[Sequence[Candidate]], list[Shown]]


class SentMark(NamedTuple):
    """What is said of a piece that was sent before."""

    state: str = ""
    lines: tuple[tuple[int, int], ...] = ()
    """Spans that were sent in these very bytes, by the numbers that they have now."""


class SentPieces:
    """Which parts of one capsule were sent before.

    Args:
        sent: what was sent in the session; None where that is not remembered.
        material: the texts of the capsule.
    """

    def __init__(self, sent: SentBodies | None, material: Material) -> None:
        self._sent = sent
        self._material = material
        self._marks: dict[_Key, SentMark] = {}

    def mark(self, one: Candidate) -> SentMark:
        """What is to be said of a candidate."""
        return self._marks.get(_key(one), SentMark())

    def packed(self, candidates: Sequence[Candidate], pack: Pack) -> list[Shown]:
        """What `pack` makes of the candidates, with nothing that was sent."""
        sent = self._sent
        if sent is None:
            return pack(candidates)
        self._marks.clear()
        current = [self._told_if_changed(one, sent) for one in candidates]
        for _ in range(_ROUNDS):
            shown = pack(current)
            repeats = {_key(one.candidate): one for one in shown if self._is_repeat(one, sent)}
            if not repeats:
                return shown
            current = [
                self._reduced(repeats[_key(one)], sent).candidate if _key(one) in repeats else one
                for one in current
            ]
        return [
            self._reduced(one, sent) if self._is_repeat(one, sent) else one for one in pack(current)
        ]

    def _told_if_changed(self, one: Candidate, sent: SentBodies) -> Candidate:
        if one.symbol < 0:
            return one
        handle = self._material.named(one)[0]
        if not sent.differs(printed(one.path), handle, self._material.lines(one.path)):
            return one
        self._marks[_key(one)] = SentMark(CHANGED)
        return one._replace(about=_joined(one.about, "changed since it was sent"))

    def _lines(self, path: bytes, numbers: Sequence[int]) -> list[tuple[int, str]]:
        return [(number, self._material.line(path, number)) for number in numbers]

    def _is_repeat(self, one: Shown, sent: SentBodies) -> bool:
        if self.mark(one.candidate).state == UNCHANGED:
            return False
        path = one.candidate.path
        lines = self._lines(path, one.lines)
        size = sum(len(text) + 1 for _, text in lines)
        size -= len(self._material.line(path, self._signature_line(one)))
        return size >= LEAST_SAVED and sent.start_of(printed(path), lines) is not None

    def _reduced(self, one: Shown, sent: SentBodies) -> Shown:
        candidate = one.candidate
        spans = tuple(runs(one.lines))
        first = sent.start_of(printed(candidate.path), self._lines(candidate.path, one.lines))
        said = "sent earlier, unchanged"
        whole = len(spans) == 1 and spans[0][0] <= candidate.name_line
        if not (whole and spans[0][1] == candidate.end_line):
            said = f"{_of_lines(spans)} {said}"
        if first is not None and first != one.lines[0]:
            said += f", then at line {first}"
        self._marks[_key(candidate)] = SentMark(UNCHANGED, spans)
        line = self._signature_line(one)
        about = _joined(candidate.about, said)
        return Shown(candidate._replace(lines=(line,), about=about), (line,), ())

    def _signature_line(self, one: Shown) -> int:
        """The line with the name; the first that is shown where that is not."""
        symbols = self._material.symbols(one.candidate.path)
        at = one.candidate.symbol
        line = symbols[at].name_line if 0 <= at < len(symbols) else one.lines[0]
        return line if line in one.lines else one.lines[0]


def _key(one: Candidate) -> _Key:
    return (one.path, one.symbol, one.name_line, one.part)


def _joined(about: str, more: str) -> str:
    return f"{about}, {more}" if about else more


def _of_lines(spans: Sequence[tuple[int, int]]) -> str:
    if len(spans) > 3:
        return f"{sum(end - start + 1 for start, end in spans)} lines of it"
    return f"lines {', '.join(lines_of(*span) for span in spans)}"
