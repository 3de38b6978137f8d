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

    def mark(self, candidate: Candidate) -> SentMark:
        """What is to be said of a candidate."""
        return self._marks.get(_key(candidate), SentMark())

    def packed(self, candidates: Sequence[Candidate], pack: Pack) -> list[Shown]:
        """What `pack` makes of the candidates, with nothing that was sent."""
        sent = self._sent
        if sent is None:
            return pack(candidates)
        self._marks.clear()
        current = [self._marked_if_changed(candidate, sent) for candidate in candidates]
        for _ in range(_ROUNDS):
            shown = pack(current)
            repeats = {
                _key(piece.candidate): piece for piece in shown if self._is_repeat(piece, sent)
            }
            if not repeats:
                return shown
            current = [
                self._reduced(repeats[_key(candidate)], sent).candidate
                if _key(candidate) in repeats
                else candidate
                for candidate in current
            ]
        return [
            self._reduced(piece, sent) if self._is_repeat(piece, sent) else piece
            for piece in pack(current)
        ]

    def _marked_if_changed(self, candidate: Candidate, sent: SentBodies) -> Candidate:
        if candidate.symbol < 0:
            return candidate
        handle = self._material.named(candidate)[0]
        if not sent.differs(printed(candidate.path), handle, self._material.lines(candidate.path)):
            return candidate
        self._marks[_key(candidate)] = SentMark(CHANGED)
        return candidate._replace(about=_joined(candidate.about, "changed since it was sent"))

    def _lines(self, path: bytes, numbers: Sequence[int]) -> list[tuple[int, str]]:
        return [(number, self._material.line(path, number)) for number in numbers]

    def _is_repeat(self, piece: Shown, sent: SentBodies) -> bool:
        if self.mark(piece.candidate).state == UNCHANGED:
            return False
        path = piece.candidate.path
        lines = self._lines(path, piece.lines)
        size = sum(len(text) + 1 for _, text in lines)
        size -= len(self._material.line(path, self._signature_line(piece)))
        return size >= LEAST_SAVED and sent.start_of(printed(path), lines) is not None

    def _reduced(self, piece: Shown, sent: SentBodies) -> Shown:
        candidate = piece.candidate
        spans = tuple(runs(piece.lines))
        first = sent.start_of(printed(candidate.path), self._lines(candidate.path, piece.lines))
        remark = "sent earlier, unchanged"
        whole = len(spans) == 1 and spans[0][0] <= candidate.name_line
        if not (whole and spans[0][1] == candidate.end_line):
            remark = f"{_of_lines(spans)} {remark}"
        if first is not None and first != piece.lines[0]:
            remark += f", then at line {first}"
        self._marks[_key(candidate)] = SentMark(UNCHANGED, spans)
        line = self._signature_line(piece)
        about = _joined(candidate.about, remark)
        return Shown(candidate._replace(lines=(line,), about=about), (line,), ())

    def _signature_line(self, piece: Shown) -> int:
        """The line with the name; the first that is shown where that is not."""
        symbols = self._material.symbols(piece.candidate.path)
        at = piece.candidate.symbol
        line = symbols[at].name_line if 0 <= at < len(symbols) else piece.lines[0]
        return line if line in piece.lines else piece.lines[0]


def _key(candidate: Candidate) -> _Key:
    return (candidate.path, candidate.symbol, candidate.name_line, candidate.part)


def _joined(about: str, more: str) -> str:
    return f"{about}, {more}" if about else more


def _of_lines(spans: Sequence[tuple[int, int]]) -> str:
    if len(spans) > 3:
        return f"{sum(end - start + 1 for start, end in spans)} lines of it"
    return f"lines {', '.join(lines_of(*span) for span in spans)}"
