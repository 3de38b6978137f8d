"""Counts calls of the interfaces: the tool, the repository, the bytes served, and those saved.

Savings are a conservative estimate: the sizes of the files that one would have read instead, minus
the bytes served, at least 0. For an expanded handle or an outlined file, that file counts; for a
list of places, only the file of the first one. At most 100 kB of a file count, since hosts stop
reading there. A file counts once per process, as it is on disk; an answer about a ref, a map, a
status or a saved context saves nothing.

An interface calls `served` once it has sent the text; until then, the call is only remembered for
its thread.
"""

from __future__ import annotations

import functools
import logging
import os
import stat
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, NamedTuple, ParamSpec, TypeVar

from codelens.answers.reading_answers import ExpandAnswer, OutlineAnswer, SearchAnswer
from codelens.config import Settings
from codelens.errors import CodelensError, InvalidArgument, StoreError
from codelens.paths import from_printed
from codelens.store.saved import usage_log
from codelens.store.saved.usage_log import Tally
from codelens.types import Receipt

if TYPE_CHECKING:
    from codelens.answers.context_answers import UsageAnswer, UsageLine
    from codelens.config import Configured
    from codelens.scope.repository import Scope

logger = logging.getLogger(__name__)

P = ParamSpec("P")
A = TypeVar("A")


E = TypeVar("E", bound="Configured")

_READ_BYTES = 100_000
_REMEMBERED = 20_000


class _Open(NamedTuple):
    """A call whose answer was not sent yet."""

    home: Path
    tool: str
    failed: bool
    whole_bytes: int


class _Thread(threading.local):
    call: _Open | None = None
    scope: Scope | None = None


_thread = _Thread()
_seen: set[tuple[str, str]] = set()


def counted(
    method: Callable[Concatenate[E, P], A],
) -> Callable[Concatenate[E, P], A]:
    """Decorate a method of the engine so that its calls are counted under its name."""

    @functools.wraps(method)
    def counting(self: E, /, *args: P.args, **named: P.kwargs) -> A:
        if not self.settings.usage:
            return method(self, *args, **named)
        home, tool = self.settings.home, method.__name__
        _thread.scope = None
        try:
            answer = method(self, *args, **named)
        except CodelensError:
            _thread.call = _Open(home, tool, True, 0)
            raise
        whole = 0 if named.get("ref") else _whole_bytes(answer)
        _thread.call = _Open(home, tool, _has_failed(answer), whole)
        return answer

    return counting


def _has_failed(answer: object) -> bool:
    """Whether any item of the answer is an error, as in the exit code of `expand`."""
    return isinstance(answer, ExpandAnswer) and any(item.error for item in answer.items)


def record_scope(scope: Scope) -> None:
    """Record the repository of this thread's call."""
    _thread.scope = scope


def current_scope() -> Scope | None:
    """The repository of this thread's call, once it is open."""
    return _thread.scope


def served(size_bytes: int) -> Path | None:
    """Count this thread's last call, whose answer was sent. Never fails.

    Returns:
        The home with the counts, if there was a call.
    """
    call, scope = _thread.call, _thread.scope
    _thread.call = None
    if call is None:
        return None
    common = os.fsencode(scope.common_dir).decode("utf-8", "replace") if scope else ""
    usage_log.note(
        call.home,
        usage_log.Call(
            day=time.strftime("%Y-%m-%d"),
            tool=call.tool,
            repository=scope.repo_id if scope else "",
            place=common.removesuffix(f"{os.sep}.git"),
            failed=call.failed,
            served_bytes=size_bytes,
            whole_bytes=call.whole_bytes,
            saved_bytes=max(call.whole_bytes - size_bytes, 0),
        ),
    )
    return call.home


def tidy(home: Path) -> None:
    """Fold a long log into the database; call it while no answer is waiting. Never fails."""
    if usage_log.has_grown(home):
        try:
            usage_log.fold(home)
        except StoreError as error:
            logger.debug("could not fold the usage log: %s", error)


def _whole_bytes(answer: object) -> int:
    receipt: object = getattr(answer, "receipt", None)
    if not isinstance(receipt, Receipt):
        return 0
    if len(_seen) > _REMEMBERED:
        _seen.clear()
    total = 0
    for path in _files_of(answer):
        key = (receipt.worktree, path)
        if key in _seen:
            continue
        _seen.add(key)
        try:
            status = os.lstat(os.path.join(os.fsencode(receipt.worktree), from_printed(path)))
        except (OSError, CodelensError, ValueError):
            continue
        if stat.S_ISREG(status.st_mode):
            total += min(status.st_size, _READ_BYTES)
    return total


def _files_of(answer: object) -> list[str]:
    """Printed paths of the files that one would have read instead."""
    paths = list(dict.fromkeys(_paths_of(answer)))
    return paths if isinstance(answer, ExpandAnswer) else paths[:1]


def _paths_of(answer: object) -> Iterator[str]:
    if isinstance(answer, SearchAnswer):
        yield from (result.path for result in answer.results)
        return
    if isinstance(answer, ExpandAnswer):
        yield from (item.path for item in answer.items if not item.error)
        return
    if isinstance(answer, OutlineAnswer):
        yield from (file.path for file in answer.files)
        return
    # Imported late: a search does not need these answers.
    from codelens.answers.graph_answers import ImpactAnswer, RelatedAnswer

    if isinstance(answer, RelatedAnswer | ImpactAnswer):
        yield from (result.node.path for result in answer.results)


# Reports of the counted usage.

_DAY_S = 86_400
_MAX_DAYS = 400
_NOWHERE = "(no repository)"


def report(settings: Settings, days: int, now_s: float) -> UsageAnswer:
    """See `Engine.usage`."""
    from codelens.answers.context_answers import UsageAnswer

    if not 1 <= days <= _MAX_DAYS:
        raise InvalidArgument("days", f"must be between 1 and {_MAX_DAYS}, not {days}")
    first_day_s = now_s - (days - 1) * _DAY_S
    since = time.strftime("%Y-%m-%d", time.localtime(first_day_s))
    tallies = usage_log.tallies(settings.home, since)
    return UsageAnswer(
        counted=settings.usage,
        days=days,
        total=_sum("", tallies),
        by_day=_lines((tally.day, tally) for tally in tallies),
        by_tool=_by_calls(_lines((tally.tool, tally) for tally in tallies)),
        by_repository=_by_calls(_lines((tally.place or _NOWHERE, tally) for tally in tallies)),
    )


def _lines(tallies: Iterable[tuple[str, Tally]]) -> tuple[UsageLine, ...]:
    by_name: defaultdict[str, list[Tally]] = defaultdict(list)
    for name, tally in tallies:
        by_name[name].append(tally)
    return tuple(_sum(name, every) for name, every in by_name.items())


def _by_calls(lines: Iterable[UsageLine]) -> tuple[UsageLine, ...]:
    return tuple(sorted(lines, key=lambda usage: (-usage.calls, usage.name)))


def _sum(name: str, tallies: Sequence[Tally]) -> UsageLine:
    from codelens.answers.context_answers import UsageLine

    return UsageLine(
        name,
        sum(tally.calls for tally in tallies),
        sum(tally.failed for tally in tallies),
        sum(tally.served_bytes for tally in tallies),
        sum(tally.whole_bytes for tally in tallies),
        sum(tally.saved_bytes for tally in tallies),
    )
