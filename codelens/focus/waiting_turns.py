"""Stores prompts and answers that arrive while a forest is locked, and checks fields of lines."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from typing import Literal, NamedTuple, cast

from codelens import home_files
from codelens.focus.prompt_terms import Counts
from codelens.home_files import read_small, replace_file, unique_draft

Fields = dict[str, object]


class Damaged(ValueError):
    """A line, or one of its fields, is invalid."""


def written(fields: Fields) -> bytes:
    """The fields as a line, without its end."""
    return json.dumps(fields, separators=(",", ":")).encode("ascii")


def fields_of(line: bytes) -> Fields | None:
    """The fields of a line; None if it is not a JSON object."""
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
        Damaged: the field is not a text.
    """
    value = fields.get(key)
    if not isinstance(value, str):
        raise Damaged(f"{key} is not a text")
    return value


def whole_in(fields: Fields, key: str) -> int:
    """A whole number.

    Raises:
        Damaged: the field is not a whole number.
    """
    value = fields.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Damaged(f"{key} is not a valid number")
    return value


def number_in(fields: Fields, key: str) -> float:
    """A number that is a valid time.

    Raises:
        Damaged: the field is not such a number.
    """
    value = fields.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
        raise Damaged(f"{key} is not a valid number")
    return float(value)


def counts_in(fields: Fields, key: str) -> dict[str, int]:
    """Counted terms.

    Raises:
        Damaged: the field does not contain counted terms.
    """
    value = fields.get(key)
    if not isinstance(value, dict):
        raise Damaged(f"{key} are not counted terms")
    counts = cast("dict[str, object]", value)
    valid = {term: times for term, times in counts.items() if isinstance(times, int) and times > 0}
    if len(valid) != len(counts):
        raise Damaged(f"{key} are not counted terms")
    return valid


# Prompts and answers that arrived while another process had the lock of their forest.
#
# Each is a file next to the forest's file, written atomically. The next process with the lock adds
# them, the oldest first, and lists them in the forest's head. So if a process is killed after it
# saved the forest, the remaining files are not added twice.

MARK = ".waiting-"
"""Follows the name of the forest's file."""
ASIDE = ".damaged-waiting-"
_SET_ASIDE = 5
"""Maximum number of damaged files of a forest that are kept."""
_MOST_WAITING = 500
_MOST_TAKEN = 8
"""Maximum number added at once: a prompt may use 60 ms of CPU in all."""
_VERSION = 1
_LARGEST = 1_000_000
"""Maximum size of a file in bytes; the stored part of a prompt is short."""


class Utterance(NamedTuple):
    """A prompt, or the stored part of an answer; secrets are masked."""

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
    """The waiting prompts and answers of a forest."""

    names: tuple[str, ...]
    """The names of their files."""
    utterances: tuple[Utterance, ...]
    notes: tuple[str, ...]
    """Damage in them, for the log."""


def put(path: str, utterance: Utterance) -> None:
    """Store an utterance for the forest in the file at `path`.

    Raises:
        OSError: it cannot be written, or too many already wait.
    """
    if len(names(path)) >= _MOST_WAITING:
        raise OSError(f"{_MOST_WAITING} already wait for the lock of {path}")
    unique = f"{time.time_ns():020d}-{os.getpid()}"
    head = {home_files.OWNER_KEY: os.path.basename(path), "version": _VERSION}
    data = written({**head, **utterance._asdict()})
    replace_file(f"{path}{MARK}{unique}", data, temporary=unique_draft(path))


def names(path: str) -> list[str]:
    """The names of the waiting files, the oldest first."""
    folder, own = os.path.split(path)
    return sorted(name for name in os.listdir(folder) if name.startswith(own + MARK))


def take(path: str, already: Iterable[str]) -> Waiting:
    """The waiting utterances, the oldest first.

    Args:
        path: the forest's file; the caller has its lock.
        already: files that were already added; they are deleted.
    """
    taken = set(already)
    notes = release(path, taken)
    stays = [name for name in names(path) if name in taken]
    waiting = read(path, stays)
    return Waiting((*stays, *waiting.names), waiting.utterances, (*notes, *waiting.notes))


def read(path: str, already: Iterable[str] = ()) -> Waiting:
    """Like `take`, but all files stay; those in `already` are skipped."""
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
    """Delete files that were added, and set aside those that could only be read in part.

    A damaged forest may list names that are not files. The last `_SET_ASIDE` files that were set
    aside are kept.

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
    """Rename a damaged file; delete the oldest one if there are too many."""
    aside = path + ASIDE
    os.replace(file, aside + file.removeprefix(path + MARK))
    folder, own = os.path.split(aside)
    there = sorted(name for name in os.listdir(folder) if name.startswith(own))
    for name in there[:-_SET_ASIDE]:
        os.unlink(os.path.join(folder, name))


def _read(path: str, file: str) -> tuple[list[Utterance], str]:
    """The utterances in a file for the forest at `path`, and its damage; both may be empty.

    Raises:
        FileNotFoundError: the file was deleted.
        IsADirectoryError: it is not a file.
        ValueError: the name is not valid for a file.
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
    """The utterance in a line.

    Raises:
        Damaged: the line is invalid, or belongs to another forest.
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
            raise Damaged("kind is invalid")
        return Utterance(
            cast("Literal['prompt', 'answer']", kind), text_in(fields, "text"),
            counts_in(fields, "terms"), number_in(fields, "at"), text_in(fields, "branch"),
            text_in(fields, "worktree"),
            # Older versions do not write this field.
            text_in(fields, "session") if "session" in fields else "",
        )  # fmt: skip
    except Damaged as error:
        raise Damaged(f"is damaged: {error}") from error
