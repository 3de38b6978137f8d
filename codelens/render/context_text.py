"""Renders saved contexts and sessions as compact lines and JSON."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import groupby

from codelens.answers.context_answers import (
    BranchChanges,
    ForgetAnswer,
    FormerPlace,
    LoadAnswer,
    RecoverAnswer,
    SaveAnswer,
    SavedContext,
    SavedHandle,
    SessionAnswer,
    SessionSummary,
    TakenOver,
    TrailCall,
    WorktreeWork,
)
from codelens.render.reading_text import Json, picked, receipt_json
from codelens.render.text_pieces import lines_of, one_line, safe
from codelens.wording import count_of, day_of, some_of

_ORDER = ("current", "moved", "changed", "gone", "unknown")
_WIDTH = max(len(status) for status in _ORDER)
_HEAD_SHOWN = 7
_NOTE_SHOWN = 120
_NAMES_SHOWN = 10


def saved(answer: SaveAnswer) -> str:
    """Render the saved context."""
    done = "updated" if answer.updated else "replaced" if answer.replaced else "saved"
    return f"{done} {block(answer.saved)}"


def blocks(answer: LoadAnswer) -> list[str]:
    """Render the contexts found: a line each if everything was requested, else in full."""
    if answer.query:
        return [block(result) for result in answer.results]
    return [line(result) for result in answer.results]


def line(saved_context: SavedContext) -> str:
    """Render a context in one line: its name, a tab, and its content."""
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
    """Render a context in full."""
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
    """Render a handle and its status."""
    text = f"{item.status:<{_WIDTH}}  {item.handle}"
    if item.start_line and item.handle.rpartition(":")[2] != lines_of(
        item.start_line, item.end_line
    ):
        text += f"  {lines_of(item.start_line, item.end_line)}"
    details: list[str] = []
    # In the view of a ref the current handle has the ref as a prefix.
    if item.handle != item.was and not item.handle.endswith(f":{item.was}"):
        details.append(f"was {item.was}")
    if item.ref:
        details.append(f"saved from {item.ref}")
    if item.near:
        details.append(f"nearest: {', '.join(item.near)}")
    return text + (f"  ({'; '.join(details)})" if details else "")


def former(places: tuple[FormerPlace, ...]) -> str:
    """Describe contexts saved before the repository was moved; empty if none."""
    if not places:
        return ""
    first, *older = places
    counted = f"{count_of(first.contexts, 'context')} saved when this repository was at"
    more = "".join(f", and {place.contexts} at {place.place!r}" for place in older)
    return f"{counted} {first.place!r}{more}, which {'are' if older else 'is'} gone"


def forgotten(answer: ForgetAnswer) -> list[str]:
    """Render the names that were forgotten."""
    return [f"forgot {one_line(name)}" for name in answer.forgotten] or ["nothing has expired"]


def hidden(count: int) -> str:
    """Say that there are expired contexts, and how to show them."""
    are = "is not shown: `codelens load --expired` shows it"
    if count > 1:
        are = "are not shown: `codelens load --expired` shows them"
    return f"{count:,} expired {'context' if count == 1 else 'contexts'} {are}"


def taken_over(answer: TakenOver) -> list[str]:
    """Render the result of taking over contexts from elsewhere."""
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
    rest = " (--json has all)" if len(names) > _NAMES_SHOWN else ""
    return some_of(names, _NAMES_SHOWN) + rest


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


# Answers about saved contexts as JSON values; docs/contexts.md documents them.


def save_json(answer: SaveAnswer) -> Json:
    """Return the saved context."""
    return {
        "receipt": receipt_json(answer.receipt),
        **picked(answer, "replaced updated"),
        "results": [context_json(answer.saved)],
        "notes": list(answer.notes),
    }


def load_json(answer: LoadAnswer) -> Json:
    """Return the contexts found; `more`, `hidden` and `former` only if not empty."""
    fields: dict[str, object] = {
        "receipt": receipt_json(answer.receipt),
        **picked(answer, "query exact"),
        "results": [context_json(result) for result in answer.results],
        **picked(answer, "notes", "more hidden"),
    }
    if answer.former:
        fields["former"] = [asdict(place) for place in answer.former]
    return fields


def context_json(saved_context: SavedContext) -> Json:
    """Return a context; times in UTC."""
    fields: dict[str, object] = asdict(saved_context)
    for key in ("created", "saved", "expires"):
        value = fields.pop(f"{key}_s")
        fields[key] = _time(value) if isinstance(value, int) else None
    fields["items"] = fields.pop("items")
    return fields


def _time(when_s: int) -> str | None:
    try:
        return datetime.fromtimestamp(when_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return None  # an import may contain any number


# Sessions and their recovery as short text.

_SESSION_NOTE_SHOWN = 160
_NO_ID = "(no id)"


def session(answer: SessionAnswer) -> list[str]:
    """Render the trail of a session, or all sessions; one line each."""
    if answer.sessions:
        return [_summary(summary) for summary in answer.sessions]
    if not answer.calls:
        return []
    rows = [f"session {answer.session or _NO_ID}: {count_of(len(answer.calls), 'call')}"]
    if answer.more:
        rows[0] += f", {answer.more:,} earlier ones left out"
    return [*rows, *(_call(call) for call in answer.calls)]


def _summary(summary: SessionSummary) -> str:
    where = f" on {one_line(summary.branch)}" if summary.branch else ""
    return (
        f"{summary.session or _NO_ID}\t{_when(summary.first_s)} to {_when(summary.last_s)}"
        f"  {count_of(summary.calls, 'call')}{where}"
    )


def _call(call: TrailCall) -> str:
    handles = " ".join(handle for handle in call.handles if handle != call.summary)
    text = " ".join(part for part in (call.tool, call.summary, handles) if part)
    return f"{_when(call.at_s)}  {one_line(text)}"


def recover(answer: RecoverAnswer) -> list[str]:
    """Render what a session needs to continue, the most important first."""
    return [
        *_standing(answer),
        *_changed(answer.changes),
        *_saved(answer.saved),
        *_trail(answer),
        *(_elsewhere(work) for work in answer.elsewhere),
        *(["code that was sent before is sent in full again"] if answer.forgot else []),
    ]


def _standing(answer: RecoverAnswer) -> Iterator[str]:
    if not answer.calls:
        return
    span = f"{_when(answer.first_s)} to {_when(answer.last_s)}"
    yield f"session {answer.session or _NO_ID}: {count_of(answer.calls, 'call')}, {span}"


def _changed(changes: BranchChanges | None) -> Iterator[str]:
    if changes is None:
        return
    left = f", then on {changes.left}" if changes.left else ""
    since = f"since this session began at {changes.began[:7]}{left}: "
    commits = f"{changes.commits:,}{'' if changes.is_all else '+'} "
    commits += "commit" if changes.commits == 1 else "commits"
    subjects = "; ".join(one_line(subject)[:70] for subject in changes.subjects)
    shown = f" ({subjects}{'; ...' if changes.commits > len(changes.subjects) else ''})"
    files = f", {count_of(changes.files, 'file')} changed" if changes.files else ", no file changed"
    yield f"{since}{commits}{shown if subjects else ''}{files}"
    definitions = sorted(changes.definitions, key=lambda line: line.how)
    for how, group in groupby(definitions, key=lambda line: line.how):
        handles = ", ".join(one_line(line.handle) for line in group)
        yield f"  {', '.join(how)}: {handles}"
    if changes.more:
        yield f"  {count_of(changes.more, 'definition')} more: codelens diff {changes.began[:10]}"


def _saved(saved: Sequence[SavedContext]) -> Iterator[str]:
    for category, group in groupby(saved, key=lambda context: context.category):
        yield f"saved, {category}:"
        for context in group:
            note = one_line(context.note.partition("\n")[0])
            note = (
                note if len(note) <= _SESSION_NOTE_SHOWN else f"{note[: _SESSION_NOTE_SHOWN - 1]}…"
            )
            changed = {item.status for item in context.items} - {"current", "moved"}
            state = f" ({', '.join(sorted(changed))})" if changed else ""
            yield f"  {one_line(context.name)}{state}{note and f': {note}'}"


def _trail(answer: RecoverAnswer) -> Iterator[str]:
    if not answer.trail:
        return
    yield "this session so far:"
    for tool in answer.trail:
        texts = "; ".join(one_line(text) for text in tool.latest if text)
        yield f"  {tool.tool} {tool.calls:,}x{texts and f', last: {texts}'}"
    edited = [one_line(file.path) for file in answer.files if file.edited]
    read = [one_line(file.path) for file in answer.files if not file.edited]
    if edited:
        yield f"  edited files: {', '.join(edited)}"
    if read:
        more = f" and {answer.more_files:,} more" if answer.more_files else ""
        yield f"  read files: {', '.join(read)}{more}"
    if answer.definitions:
        more = f" and {answer.more_definitions:,} more" if answer.more_definitions else ""
        yield f"  definitions: {', '.join(map(one_line, answer.definitions))}{more}"


def _elsewhere(work: WorktreeWork) -> str:
    parts: list[str] = []
    if work.edited:
        parts.append(f"edited {', '.join(map(one_line, work.edited))}")
    if work.commits:
        subjects = "; ".join(one_line(subject)[:70] for subject in work.subjects)
        parts.append(f"{count_of(work.commits, 'commit')} ({subjects})")
    where = f"{one_line(work.worktree)} ({one_line(work.branch) or 'detached'})"
    return f"meanwhile in the worktree {where}: {'; '.join(parts)}"


def _when(at_s: int) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(at_s))
    except (OverflowError, OSError, ValueError):
        return "?"  # a damaged line may contain any number


# Sessions and their recovery as JSON values; docs/sessions.md documents them.


def session_json(answer: SessionAnswer) -> Json:
    """Return the trail of a session in `results`, or all sessions in `sessions`."""
    fields: dict[str, object] = {
        "receipt": receipt_json(answer.receipt),
        "session": answer.session,
        "results": [
            {**_without(asdict(call), "at_s", "session"), "at": _time(call.at_s)}
            for call in answer.calls
        ],
        **picked(answer, "notes", "more"),
    }
    if answer.sessions:
        fields["sessions"] = [
            {
                **_without(asdict(summary), "first_s", "last_s"),
                "first": _time(summary.first_s),
                "last": _time(summary.last_s),
            }
            for summary in answer.sessions
        ]
    return fields


def recover_json(answer: RecoverAnswer) -> Json:
    """Return what a session needs to continue; saved contexts are in `results`."""
    fields: dict[str, object] = {
        "receipt": receipt_json(answer.receipt),
        **picked(answer, "session calls"),
        "results": [context_json(saved) for saved in answer.saved],
        "trail": [asdict(tool) for tool in answer.trail],
        "files": [asdict(file) for file in answer.files],
        "definitions": list(answer.definitions),
        "changes": asdict(answer.changes) if answer.changes is not None else None,
        "elsewhere": [asdict(work) for work in answer.elsewhere],
        **picked(answer, "forgot notes"),
    }
    if answer.calls:
        fields["first"], fields["last"] = map(_time, (answer.first_s, answer.last_s))
    return fields | picked(answer, "", "more_files more_definitions")


def _without(fields: dict[str, object], *names: str) -> dict[str, object]:
    return {name: value for name, value in fields.items() if name not in names}
