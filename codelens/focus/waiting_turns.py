"""The fields of one line of a forest's file, each checked: a line that says nothing is damage."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from typing import Literal, NamedTuple, cast

from codelens import home_files
from codelens.focus.prompt_terms import Counts
from codelens.home_files import read_small, replace_file

Fields = dict[str, object]


class Damaged(ValueError):
    """A line, or one of its fields, that says nothing."""


def written(fields: Fields) -> bytes:
    """A line without its end."""
    return json.dumps(fields, separators=(",", ":")).encode("ascii")


def fields_of(line: bytes) -> Fields | None:
    """What a line says; None where it is no JSON object."""
    if not line:
        return None
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast("Fields", fields) if isinstance(fields, dict) else None


def text_in(fields: Fields, key: str) -> str:
    """A text.

    Raises:
        Damaged: it is none.
    """
    value = fields.get(key)
    if not isinstance(value, str):
        raise Damaged(f"{key} that is no text")
    return value


def whole_in(fields: Fields, key: str) -> int:
    """A whole number.

    Raises:
        Damaged: it is none.
    """
    value = fields.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Damaged(f"{key} that is no number")
    return value


def number_in(fields: Fields, key: str) -> float:
    """A number that a time can be.

    Raises:
        Damaged: it is none.
    """
    value = fields.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
        raise Damaged(f"{key} that is no number")
    return float(value)


def counts_in(fields: Fields, key: str) -> dict[str, int]:
    """Counted terms.

    Raises:
        Damaged: they are none.
    """
    value = fields.get(key)
    if not isinstance(value, dict):
        raise Damaged(f"{key} that are none")
    counts = cast("dict[str, object]", value)
    valid = {term: times for term, times in counts.items() if isinstance(times, int) and times > 0}
    if len(valid) != len(counts):
        raise Damaged(f"{key} that are none")
    return valid


# Prompts and answers that came while another process held the lock of their forest.
#
# Each is a file beside that of the forest, written whole or not at all. Who has the lock next takes
# them, the oldest first, and names them in the forest's head: a process that is killed after it
# saved the forest leaves files that were taken already, and nothing is taken twice.

MARK = ".waiting-"
"""What follows the name of the forest's file."""
ASIDE = ".damaged-waiting-"
_SET_ASIDE = 5
"""Damaged files of one forest that are kept."""
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
    session: str = ""


class Waiting(NamedTuple):
    """What waits for a forest."""

    names: tuple[str, ...]
    """The names of its files."""
    utterances: tuple[Utterance, ...]
    notes: tuple[str, ...]
    """What was wrong with them, for the log."""


def put(path: str, utterance: Utterance) -> None:
    """Let it wait for the forest of the file at `path`.

    Raises:
        OSError: it cannot be written, or too many wait already.
    """
    if len(names(path)) >= _MOST_WAITING:
        raise OSError(f"{_MOST_WAITING} wait already for the lock of {path}")
    unique = f"{time.time_ns():020d}-{os.getpid()}"
    head = {home_files.OWNER_KEY: os.path.basename(path), "version": _VERSION}
    data = written({**head, **utterance._asdict()})
    replace_file(f"{path}{MARK}{unique}", data, beside=f"{path}.new-{unique}")


def names(path: str) -> list[str]:
    """The names of the files that wait, the oldest first."""
    folder, own = os.path.split(path)
    return sorted(name for name in os.listdir(folder) if name.startswith(own + MARK))


def take(path: str, already: Iterable[str]) -> Waiting:
    """What waits, the oldest first.

    Args:
        path: the forest's file; its lock is held.
        already: names that were taken before; these files are let go.
    """
    taken = set(already)
    notes = release(path, taken)
    stays = [name for name in names(path) if name in taken]
    waiting = read(path, stays)
    return Waiting((*stays, *waiting.names), waiting.utterances, (*notes, *waiting.notes))


def read(path: str, already: Iterable[str] = ()) -> Waiting:
    """As `take`, but all files stay; those named `already` are passed over."""
    passed = set(already)
    folder = os.path.dirname(path)
    taken = tuple([name for name in names(path) if name not in passed][:_MOST_TAKEN])
    utterances: list[Utterance] = []
    notes: list[str] = []
    for name in taken:
        file = os.path.join(folder, name)
        try:
            readable, damage = _read(path, file)
        except (OSError, ValueError):
            continue
        utterances += readable
        if damage:
            notes.append(f"{file} {damage}; {len(readable)} of its lines could be read")
    return Waiting(taken, tuple(utterances), tuple(notes))


def release(path: str, taken: Iterable[str]) -> tuple[str, ...]:
    """Delete files that were taken, and set aside those that hold more than was read of them.

    A damaged forest may name what is no file. Of the files that were set aside `_SET_ASIDE` are
    kept.

    Returns:
        What could not be done, for the log.
    """
    notes: list[str] = []
    for name in taken:
        file = os.path.join(os.path.dirname(path), name)
        try:
            if _read(path, file)[1]:
                _set_aside(path, file)
            else:
                os.unlink(file)
        except (FileNotFoundError, IsADirectoryError, ValueError):
            continue
        except OSError as error:
            notes.append(f"{file} stays: {error}")
    return tuple(notes)


def _set_aside(path: str, file: str) -> None:
    """Keep a damaged file under another name; the oldest goes where there are too many."""
    aside = path + ASIDE
    os.replace(file, aside + file.removeprefix(path + MARK))
    folder, own = os.path.split(aside)
    there = sorted(name for name in os.listdir(folder) if name.startswith(own))
    for name in there[:-_SET_ASIDE]:
        os.unlink(os.path.join(folder, name))


def _read(path: str, file: str) -> tuple[list[Utterance], str]:
    """What waits in a file for the forest at `path`, and what is wrong with it; empty if nothing.

    Raises:
        FileNotFoundError: it has gone.
        IsADirectoryError: it is no file.
        ValueError: no file can have this name.
    """
    try:
        data = read_small(file, _LARGEST)
    except (FileNotFoundError, IsADirectoryError):
        raise
    except OSError as error:
        return [], f"cannot be read: {error.strerror or error}"
    utterances: list[Utterance] = []
    damage = "" if data else "is empty"
    for line in data.splitlines():
        try:
            utterances.append(_utterance(path, line))
        except Damaged as error:
            damage = damage or str(error)
    return utterances, damage


def _utterance(path: str, line: bytes) -> Utterance:
    """What one line says.

    Raises:
        Damaged: nothing, or to another forest.
    """
    fields = fields_of(line)
    if fields is None:
        raise Damaged("is damaged")
    if fields.get("version") != _VERSION:
        raise Damaged(f"has version {fields.get('version')!r}")
    other = home_files.other_owner_name(path, fields.get(home_files.OWNER_KEY))
    if other:
        raise Damaged(home_files.written_for(other))
    try:
        kind = text_in(fields, "kind")
        if kind not in {"prompt", "answer"}:
            raise Damaged("kind that is none")
        return Utterance(
            cast("Literal['prompt', 'answer']", kind), text_in(fields, "text"),
            counts_in(fields, "terms"), number_in(fields, "at"), text_in(fields, "branch"),
            text_in(fields, "worktree"),
            # Not written by versions of before it was.
            text_in(fields, "session") if "session" in fields else "",
        )  # fmt: skip
    except Damaged as error:
        raise Damaged(f"is damaged: {error}") from error
