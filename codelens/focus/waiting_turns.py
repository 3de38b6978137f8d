"""Prompts and answers that came while another process held the lock of their forest.

Each is a file beside that of the forest, written whole or not at all. Who has the lock next takes
them, the oldest first, and names them in the forest's head: a process that is killed after it saved
the forest leaves files that were taken already, and nothing is taken twice.
"""

from __future__ import annotations

import os
import time

from codelens import file_owner
from codelens.focus.line_fields import (
    Damaged,
    counts_in,
    fields_of,
    number_in,
    text_in,
    whole_in,
    written,
)
from codelens.focus.term_vectors import Counts
from codelens.light_library import NamedTuple, cast
from codelens.small_files import read_small, replace_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

MARK = ".waiting-"
"""What follows the name of the forest's file."""
_MOST_WAITING = 500
_MOST_TAKEN = 8
"""Taken at once: a prompt may cost 60 ms of CPU in all."""
_VERSION = 1
_LARGEST = 1_000_000
"""Bytes of one; what is kept of a prompt is short."""


class Utterance(NamedTuple):
    """A prompt, or what is kept of an answer; secrets are masked."""

    kind: Literal["prompt", "answer"]
    text: str
    terms: Counts
    at: float
    """Seconds since the epoch."""
    branch: str
    worktree: str
    """The root of the worktree."""


def put(path: str, utterance: Utterance) -> None:
    """Let it wait for the forest of the file at `path`.

    Raises:
        OSError: it cannot be written, or too many wait already.
    """
    if len(names(path)) >= _MOST_WAITING:
        raise OSError(f"{_MOST_WAITING} wait already for the lock of {path}")
    unique = f"{time.time_ns():020d}-{os.getpid()}"
    head = {file_owner.KEY: os.path.basename(path), "version": _VERSION}
    data = written({**head, **utterance._asdict()})
    replace_file(f"{path}{MARK}{unique}", data, beside=f"{path}.new-{unique}")


def names(path: str) -> list[str]:
    """The names of the files that wait, the oldest first."""
    folder, own = os.path.split(path)
    return sorted(name for name in os.listdir(folder) if name.startswith(own + MARK))


def take(path: str, already: Iterable[str]) -> dict[str, Utterance | None]:
    """What waits by the name of its file, the oldest first; None for what says nothing.

    Args:
        path: the forest's file; its lock is held.
        already: names that were taken before; these files are deleted.
    """
    delete(path, already)
    folder = os.path.dirname(path)
    return {name: _read(path, os.path.join(folder, name)) for name in names(path)[:_MOST_TAKEN]}


def delete(path: str, taken: Iterable[str]) -> None:
    """Delete files that were taken; a damaged forest may name what is no file."""
    for name in taken:
        try:
            os.unlink(os.path.join(os.path.dirname(path), name))
        except (FileNotFoundError, IsADirectoryError, ValueError):
            continue


def _read(path: str, file: str) -> Utterance | None:
    """What waits in a file for the forest at `path`; None for what is another's, or no use."""
    try:
        fields = fields_of(read_small(file, _LARGEST))
    except OSError:
        return None
    try:
        if fields is None or whole_in(fields, "version") != _VERSION:
            return None
        if file_owner.other_name(path, fields.get(file_owner.KEY)):
            return None
        kind = text_in(fields, "kind")
        if kind not in {"prompt", "answer"}:
            return None
        return Utterance(
            cast("Literal['prompt', 'answer']", kind), text_in(fields, "text"),
            counts_in(fields, "terms"), number_in(fields, "at"), text_in(fields, "branch"),
            text_in(fields, "worktree"),
        )  # fmt: skip
    except Damaged:
        return None
