"""What of a long list of records is another than before: told in C, as most is the same.

After an edit one of 50,000 files of a view is another record; a loop in Python over all of them
costs ten times as much.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import compress, count
from operator import is_not
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeVar

    K = TypeVar("K")


def places_with(keys: Iterable[K], chosen: Container[K]) -> list[int]:
    """The positions of those of `keys` that are in `chosen`."""
    return list(compress(count(), map(chosen.__contains__, keys)))


def changed_places(before: Sequence[object], now: Sequence[object]) -> list[int] | None:
    """The positions at which `now` has another record than `before` had; and all behind its end.

    None where it is shorter: then records of `before` are gone, and others moved.
    """
    if len(now) < len(before):
        return None
    return [*compress(count(), map(is_not, before, now)), *range(len(before), len(now))]
