"""How long work tells how far it is."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called now and then from the thread that works; must be quick and must not raise."""

    def __call__(self, stage: str, done: int, total: int, /) -> None:
        """`stage` is a word for people (`reading`, `indexing`); `done` of `total` files, texts."""
        ...


def silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""
