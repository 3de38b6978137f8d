"""Progress of long work on stderr: a bar on a terminal, else a line now and then.

Short work shows nothing and imports nothing.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_SHOWN_AFTER_S = 0.5
_SAID_AFTER_S, _SAID_EVERY_S = 3.0, 5.0
"""Where stderr is no terminal; an agent or a log needs no more."""
_UNITS = {"sending texts": "texts", "filling the store": "vectors"}
"""Stage -> what is counted at it; files, if it is not here."""


class Bar:
    """A `codelens.index.progress.Progress` that draws a bar on stderr; use it in a `with`."""

    def __init__(self) -> None:
        self._wanted = sys.stderr.isatty()
        self._started = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._stage = ""
        self._say_at = self._started + _SAID_AFTER_S

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show how far the work is."""
        if not self._wanted:
            self._say(stage, done, total)
            return
        if self._progress is None:
            if time.monotonic() - self._started < _SHOWN_AFTER_S:
                return
            self._progress = _draw()
        if stage != self._stage or self._task is None:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._stage = stage
            unit = _UNITS.get(stage, "files")
            self._task = self._progress.add_task(stage, total=total, unit=unit)
        self._progress.update(self._task, completed=done, total=total)

    def _say(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._say_at:
            return
        from codelens.cli.standard_streams import remark

        self._say_at = now + _SAID_EVERY_S
        remark(f"codelens: {stage}: {done:,} of {total:,} {_UNITS.get(stage, 'files')}")


def _draw() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[unit]}"),
        console=Console(stderr=True),
        transient=True,
    )
    progress.start()
    return progress
