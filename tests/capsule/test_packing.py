"""What gets packed: the most valuable first, each line once, never over the budget."""

from __future__ import annotations

from harness_sizes import ANY_HEALTH
from hypothesis import given, settings
from hypothesis import strategies as st

from codelens import capsule
from codelens.capsule import Candidate, Costs, pack, windows

COSTS = Costs(
    line=lambda path, number: 10 + number % 7, heading=lambda one: 30, file=lambda path: 20, gap=4
)


def candidate(path: bytes, start: int, length: int, value: float) -> Candidate:
    return Candidate(path, start, start, start, start + length - 1, value, "pivot")


CANDIDATES = st.lists(
    st.builds(
        candidate,
        st.sampled_from([b"a.py", b"b.py", b"c.py"]),
        st.integers(1, 400),
        st.integers(1, 300),
        st.floats(0, 2),
    ),
    max_size=30,
)


@settings(suppress_health_check=ANY_HEALTH)
@given(CANDIDATES, st.integers(0, 20_000))
def test_the_room_is_kept_and_no_line_comes_twice(made: list[Candidate], room: int) -> None:
    shown = pack(made, room, COSTS, lambda path: {7: 1.0, 120: 2.0, 250: 1.0})
    lines = [(one.candidate.path, line) for one in shown for line in one.lines]
    assert len(lines) == len(set(lines))
    files = {one.candidate.path for one in shown}
    gaps = sum(
        1 for one in shown for a, b in zip(one.lines, one.lines[1:], strict=False) if b > a + 1
    )
    spent = sum(COSTS.line(*at) for at in lines) + 30 * len(shown) + 20 * len(files) + 4 * gaps
    assert spent <= room
    for one in shown:
        assert all(one.candidate.start_line <= at <= one.candidate.end_line for at in one.lines)


def test_the_best_comes_first_and_a_fitting_one_fills_the_rest() -> None:
    made = [candidate(b"a.py", 1, 20, 1.0), candidate(b"b.py", 1, 200, 0.9),
            candidate(b"c.py", 1, 2, 0.1)]  # fmt: skip
    shown = pack(made, 700, COSTS, lambda path: {})
    assert [one.candidate.path for one in shown] == [b"a.py", b"b.py"]
    assert len(shown[0].lines) == 20 and shown[1].left_out


def test_a_long_definition_is_shown_by_its_head_and_relevant_lines() -> None:
    lines = windows(100, 400, {350: 3.0, 220: 1.0}, 30)
    assert {100, 101, 102, 349, 350, 351} <= set(lines)
    assert lines == sorted(lines) and len(lines) <= 33
    assert windows(1, 10, {}, 30) == list(range(1, 11))


LEADING = [candidate(b"a.py", 1 + 10 * at, 3, 0.99 - at / 100) for at in range(capsule.LEADING)]


def packed(made: list[Candidate], room: int, worth: float = 0.0) -> list[Candidate]:
    limits = capsule.Limits(worth=worth)
    return [one.candidate for one in pack(made, room, COSTS, lambda path: {}, limits=limits)]


def test_after_the_leading_ones_short_bodies_come_before_long_ones() -> None:
    long = candidate(b"b.py", 1, 150, 0.5)
    short = [candidate(b"c.py", 1 + 10 * at, 4, 0.45 - at / 100) for at in range(4)]
    shown = packed([*LEADING, long, *short], 5000)
    assert shown == [*LEADING, *short, long]


def test_what_is_hardly_needed_is_left_out_although_there_is_room() -> None:
    many = [candidate(b"b.py", 1 + 10 * at, 9, 0.9 - at / 1000) for at in range(60)]
    shown = packed([*LEADING, *many], 23_000, capsule.LEAST_WORTH)
    assert shown[: len(LEADING)] == LEADING
    rest = shown[len(LEADING) :]
    assert rest == many[: len(rest)] and 5 < len(rest) < 30
    assert rest == packed([*LEADING, *many], 15_000, capsule.LEAST_WORTH)[len(LEADING) :]
    assert len(packed([*LEADING, *many], 23_000)) > len(shown)


def test_lines_outside_of_definitions_count_less_than_definitions() -> None:
    lines = candidate(b"b.py", 1, 4, 0.6)._replace(part="lines")
    definition = candidate(b"c.py", 1, 4, 0.3)
    assert packed([*LEADING, lines, definition], 9000) == [*LEADING, definition, lines]


def test_a_small_hole_is_closed_and_a_large_one_stays() -> None:
    long = candidate(b"a.py", 1, 400, 1.0)
    # A line costs 13 bytes on average: seven lines cost less than a hole may save.
    [piece] = pack([long], 2000, COSTS, lambda path: {100: 9.0, 120: 8.0})
    assert set(range(94, 127)) <= set(piece.lines)
    assert piece.left_out and all(end - start > 7 for start, end in piece.left_out)


def test_a_definition_of_which_most_is_shown_is_shown_whole() -> None:
    long = candidate(b"a.py", 1, 240, 1.0)
    [piece] = pack([long], 9000, COSTS, lambda path: {100: 9.0})
    assert piece.lines == tuple(range(1, 241)) and not piece.left_out
    [piece] = pack([long._replace(end_line=300)], 9000, COSTS, lambda path: {100: 9.0})
    assert piece.left_out


def test_certain_definitions_go_first_at_any_length() -> None:
    named = [
        candidate(b"n.py", 1 + 40 * at, 30, 10.0 - at / 100) for at in range(capsule.LEADING + 3)
    ]
    short = [candidate(b"c.py", 1 + 10 * at, 2, 0.9) for at in range(8)]
    shown = [one.candidate for one in pack([*short, *named], 50_000, COSTS, lambda path: {})]
    assert shown[: len(named)] == named


def test_long_comments_are_left_out_and_counted() -> None:
    asides = frozenset(range(3, 12))
    whole = Candidate(b"a.py", 0, 1, 12, 20, 1.0, "pivot", asides=asides)
    [piece] = pack([whole], 3000, COSTS, lambda path: {5: 9.0})
    assert piece.lines == (1, 2, *range(12, 21)) and piece.left_out == ((3, 11),)
    long = whole._replace(end_line=400, asides=frozenset(range(20, 60)))
    [piece] = pack([long], 3000, COSTS, lambda path: {30: 9.0, 300: 1.0})
    assert 300 in piece.lines and not long.asides.intersection(piece.lines)


def test_the_outline_of_a_long_type_takes_little_of_the_room() -> None:
    outline = candidate(b"a.py", 1, 300, 1.0)._replace(lines=tuple(range(1, 300, 7)))
    [piece] = pack([outline], 3000, COSTS, lambda path: {})
    spent = sum(COSTS.line(b"a.py", line) + COSTS.gap for line in piece.lines)
    assert piece.lines == outline.lines[: len(piece.lines)] and 250 < spent <= 304
