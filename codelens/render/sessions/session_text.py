"""Sessions and their recovery as short text, alike for people and agents."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import groupby

from codelens.answers.context_answers import SavedContext
from codelens.answers.session_answers import (
    BranchChanges,
    EditedDefinition,
    RecoverAnswer,
    SessionAnswer,
    SessionSummary,
    TrailCall,
    WorktreeWork,
)
from codelens.plurals import count_of
from codelens.render.text_pieces import one_line

_NOTE_SHOWN = 160
_NO_ID = "(no id)"


def session(answer: SessionAnswer) -> list[str]:
    """The trail of a session, a call a line; or all sessions, a line each."""
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
    """What a session needs to go on: the most important first."""
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
    for how, group in groupby(_by_how(changes.definitions), key=lambda line: line.how):
        handles = ", ".join(one_line(line.handle) for line in group)
        yield f"  {', '.join(how)}: {handles}"
    if changes.more:
        yield f"  {count_of(changes.more, 'definition')} more: codelens diff {changes.began[:10]}"


def _by_how(definitions: Sequence[EditedDefinition]) -> list[EditedDefinition]:
    return sorted(definitions, key=lambda line: line.how)


def _saved(saved: Sequence[SavedContext]) -> Iterator[str]:
    for category, group in groupby(saved, key=lambda context: context.category):
        yield f"saved, {category}:"
        for context in group:
            note = one_line(context.note.partition("\n")[0])
            note = note if len(note) <= _NOTE_SHOWN else f"{note[: _NOTE_SHOWN - 1]}…"
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
        return "?"  # a damaged line may hold any number
