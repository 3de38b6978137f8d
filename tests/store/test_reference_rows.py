"""References stored as columns read back unchanged."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelens.store.facts.resolution_facts import (
    REFERENCE_KINDS,
    Places,
    ReferenceRows,
    references_named,
)
from codelens.types import Reference

REFERENCES = st.lists(
    st.builds(
        Reference,
        st.sampled_from(("f", "g", "été", "")),
        st.sampled_from(REFERENCE_KINDS),
        st.integers(0, 2**32 - 1),
        st.integers(0, 2**32 - 1),
        st.integers(-1, 2**31 - 1),
        st.sampled_from(("", "?", "self.a")),
        st.integers(0, 2**24 - 1),
        st.integers(-2, 253),
        st.sampled_from(("", "1\n2")),
    ),
    max_size=8,
)


def rows_of(references: Sequence[Reference]) -> ReferenceRows:
    columns = list(zip(*references, strict=True)) if references else [()] * 9
    return ReferenceRows(Places(*columns[:5]), *columns[5:])


@given(REFERENCES, st.sets(st.sampled_from(("f", "g", "été", "x"))))
def test_columns_return_the_rows(references: list[Reference], names: set[str]) -> None:
    rows = rows_of(references)
    assert len(rows) == len(references)
    assert list(rows) == references
    assert [rows[at] for at in range(-len(rows), len(rows))] == references * 2
    assert rows[1:5:2] == references[1:5:2]
    assert all(type(row) is Reference for row in (*rows, *rows[:]))
    expected = [reference for reference in references if reference.name in names]
    assert references_named(rows, names) == references_named(references, names) == expected
    with pytest.raises(IndexError):
        rows[len(rows)]


def test_columns_of_unequal_lengths_are_refused() -> None:
    places = Places(["f"], ["call"], [1], [0], [-1])
    with pytest.raises(ValueError, match="differ in length"):
        ReferenceRows(places, [""], [0], [-1], [])
