"""Saved contexts as compact lines, alike for people and agents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from codelens.answers.context_answers import (
    ForgetAnswer,
    FormerPlace,
    LoadAnswer,
    SaveAnswer,
    SavedContext,
    SavedHandle,
    TakenOver,
)
from codelens.dates import day_of
from codelens.plurals import count_of
from codelens.render.text_pieces import lines_of, one_line, safe

_ORDER = ("current", "moved", "changed", "gone", "unknown")
_WIDTH = max(len(status) for status in _ORDER)
_HEAD_SHOWN = 7
_NOTE_SHOWN = 120
_NAMES_SHOWN = 10


def saved(answer: SaveAnswer) -> str:
    """What was saved."""
    done = "updated" if answer.updated else "replaced" if answer.replaced else "saved"
    return f"{done} {block(answer.saved)}"


def blocks(answer: LoadAnswer) -> list[str]:
    """What was found: a line each where everything was asked for, else all of each."""
    if answer.query:
        return [block(result) for result in answer.results]
    return [line(result) for result in answer.results]


def line(saved_context: SavedContext) -> str:
    """A context in one line: its name, a tab, and what is there."""
    note = one_line(saved_context.note)
    note = note if len(note) <= _NOTE_SHOWN else f"{note[: _NOTE_SHOWN - 1]}…"
    states = Counter(item.status for item in saved_context.items)
    counts = ", ".join(f"{states[status]} {status}" for status in _ORDER if states[status])
    parts = [
        saved_context.category,
        *_marks(saved_context),
        count_of(len(saved_context.items), "handle") if saved_context.items else "",
    ]
    details = " · ".join(part for part in parts if part)
    return safe(f"{saved_context.name}\t{details}{counts and f': {counts}'}{note and f' · {note}'}")


def block(saved_context: SavedContext) -> str:
    """All of a context."""
    where = (
        f"{saved_context.branch}@{saved_context.head[:_HEAD_SHOWN]}"
        if saved_context.head
        else saved_context.branch
    )
    on = f"saved {day_of(saved_context.saved_s)}{where and f' on {where}'}"
    rows = [
        " · ".join(
            (
                f"{saved_context.name}  {saved_context.category}",
                *_marks(saved_context),
                on,
                *_more(saved_context),
            )
        )
    ]
    rows += [f"  {text}" for text in saved_context.note.splitlines()]
    rows += [f"  {item_line(item)}" for item in saved_context.items]
    return safe("\n".join(rows))


def item_line(item: SavedHandle) -> str:
    """A handle and how it fares."""
    text = f"{item.status:<{_WIDTH}}  {item.handle}"
    if item.start_line and item.handle.rpartition(":")[2] != lines_of(
        item.start_line, item.end_line
    ):
        text += f"  {lines_of(item.start_line, item.end_line)}"
    details: list[str] = []
    # In the view of a ref a handle now has the ref before what it was.
    if item.handle != item.was and not item.handle.endswith(f":{item.was}"):
        details.append(f"was {item.was}")
    if item.ref:
        details.append(f"saved from {item.ref}")
    if item.near:
        details.append(f"nearest: {', '.join(item.near)}")
    return text + (f"  ({'; '.join(details)})" if details else "")


def former(places: tuple[FormerPlace, ...]) -> str:
    """What was saved before the repository was moved; empty if nothing was."""
    if not places:
        return ""
    first, *older = places
    counted = f"{count_of(first.contexts, 'context')} saved when this repository was at"
    more = "".join(f", and {place.contexts} at {place.place!r}" for place in older)
    return f"{counted} {first.place!r}{more}, which {'are' if older else 'is'} gone"


def forgotten(answer: ForgetAnswer) -> list[str]:
    """Which names were forgotten, in lines."""
    return [f"forgot {one_line(name)}" for name in answer.forgotten] or ["nothing has expired"]


def hidden(count: int) -> str:
    """That there are contexts whose time is over, and how they are seen."""
    are = "is not shown: `codelens load --expired` shows it"
    if count > 1:
        are = "are not shown: `codelens load --expired` shows them"
    return f"{count:,} expired {'context' if count == 1 else 'contexts'} {are}"


def taken_over(answer: TakenOver) -> list[str]:
    """What came of contexts from elsewhere, in lines."""
    source = f" from {answer.source}" if answer.source else ""
    rows = [
        f"{word} {len(names):,}{source}{why}: {_some(names)}"
        for word, why, names in (
            ("added", "", answer.added),
            ("replaced", "", answer.replaced),
            ("skipped", ", already here", answer.same),
            ("skipped", ", the name is already taken", answer.refused),
        )
        if names
    ]
    return rows or ["nothing to add"]


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return f"{shown} and {more:,} more (--json has all)" if more > 0 else shown


def _marks(context: SavedContext) -> list[str]:
    marks = ["pinned"] if context.pinned else []
    if context.expired and context.expires_s is not None:
        marks.append(f"EXPIRED {day_of(context.expires_s)}")
    return marks


def _more(context: SavedContext) -> list[str]:
    more: list[str] = []
    if context.expires_s is not None and not context.expired and not context.pinned:
        more.append(f"expires {day_of(context.expires_s)}")
    if context.tags:
        more.append(f"tags {', '.join(context.tags)}")
    return more
