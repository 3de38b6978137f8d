"""Answers about branches as short text, alike for people and agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codelens.answers.branch_answers import (
    BrokenUse,
    CollisionLine,
    ConflictsAnswer,
    DefinitionLine,
    DiffAnswer,
    FileDiff,
    HistoryAnswer,
    HistoryEvent,
    Lines,
    OutsideLines,
    Rival,
)
from codelens.render.text_pieces import count_of, lines_of, one_line

Shown = tuple[list[str], list[str]]
"""What is said of the whole, and blocks that may be left out from the end."""
_USES_SHOWN = 5
_SPANS_SHOWN = 4
_PUBLIC_SHOWN = 8
_TESTS_SHOWN = 8
_HARMLESS = "harmless"


def diff(answer: DiffAnswer, *, stat: bool = False) -> Shown:
    """What breaks first, then file by file what differs."""
    told = ", ".join(f"{count} {how}" for how, count in answer.totals)
    files = count_of(len(answer.files), "file")
    head = [f"{answer.old} -> {answer.new}: {files}{f'; definitions: {told}' if told else ''}"]
    if not answer.files:
        head = [f"{answer.old} -> {answer.new}: nothing differs"]
    blocks: list[str] = []
    if not stat:
        blocks += [_broken(one) for one in answer.broken]
        blocks += _public("public surface removed or changed", answer.removed_public)
        blocks += _public("new public surface", answer.added_public)
        if answer.tests:
            more = answer.test_count - len(answer.tests[:_TESTS_SHOWN])
            names = " ".join(answer.tests[:_TESTS_SHOWN])
            blocks.append(f"tests to run: {names}{f' and {more} more' if more > 0 else ''}")
    for file in answer.files:
        blocks.append(_file_head(file))
        if not stat and not file.folded:
            blocks += [f"  {_definition(one)}" for one in file.definitions]
            blocks += [f"  {line}" for line in _outside(file.outside)]
    return head, blocks


def _broken(one: BrokenUse) -> str:
    what = f"{one.handle} {one.how}" + (f" (now {one.now})" if one.now else "")
    verb = "broken" if one.certain else "to check"
    shown = ", ".join(one.uses[:_USES_SHOWN])
    more = ", ..." if one.count > len(one.uses[:_USES_SHOWN]) else ""
    users = f" of {one.users}" if one.users > one.count else ""
    return f"{verb}: {what}: {count_of(one.count, 'use')}{users} unchanged: {shown}{more}"


def _public(title: str, handles: Sequence[str]) -> list[str]:
    if not handles:
        return []
    shown = ", ".join(handles[:_PUBLIC_SHOWN])
    left = len(handles) - _PUBLIC_SHOWN
    return [f"{title}: {shown}{f' and {left} more' if left > 0 else ''}"]


def _file_head(file: FileDiff) -> str:
    was = f" (was {file.old_path})" if file.old_path else ""
    counted: dict[str, int] = {}
    for one in file.definitions:
        for how in one.how:
            counted[how] = counted.get(how, 0) + 1
    said = file.folded or ", ".join(f"{count} {how}" for how, count in counted.items())
    return f"{file.path}{was}  {file.how}{f'  {said}' if said else ''}"


def _definition(one: DefinitionLine) -> str:
    parts = [one.handle, " and ".join(one.how)]
    if one.old_handle and {"moved", "renamed"} & set(one.how):
        parts.append(f"was {one.old_handle}")
        if one.share_new:
            parts.append(f"{one.share_new:.0%} new")
    elif "signature" in one.how:
        parts.append(f"{one_line(one.old_signature)} -> {one_line(one.signature)}")
    elif "added" in one.how:
        parts.append(one_line(one.signature))
    if one.inside:
        parts.append(f"with {count_of(one.inside, 'definition')} in it")
    lines = lines_of(one.start_line, one.end_line)
    return "  ".join([parts[0], lines, *parts[1:]])


def _outside(parts: Sequence[OutsideLines]) -> Iterator[str]:
    for one in parts:
        if one.how == "reordered":
            yield f"only the order changed: {', '.join(one.names[:_PUBLIC_SHOWN])}"
            continue
        if not one.new_lines and not one.old_lines:
            yield f"only {one.how} differ"
            continue
        now, was = _spans(one.new_lines), _spans(one.old_lines)
        yield f"{one.how}: " + ", ".join(
            part for part in (f"lines {now}" if now else "", f"was {was}" if was else "") if part
        )


def _spans(spans: Lines) -> str:
    shown = ",".join(lines_of(*span) for span in spans[:_SPANS_SHOWN])
    return shown + (",..." if len(spans) > _SPANS_SHOWN else "")


def conflicts(answer: ConflictsAnswer, *, detailed: bool = False) -> Shown:
    """Rival by rival, what collides; the worst first."""
    head: list[str] = []
    blocks: list[str] = []
    for one in answer.results:
        blocks.append(_rival(one))
        blocks += [
            f"  {conflict.kind}: {conflict.path}"
            + (" (harmless: both only added definitions)" if conflict.harmless else "")
            for conflict in one.textual
        ]
        blocks += [
            f"  {_collision(line)}"
            for line in one.collisions
            if detailed or line.grade != _HARMLESS
        ]
        quiet = sum(line.grade == _HARMLESS for line in one.collisions)
        if quiet and not detailed:
            blocks.append(f"  {count_of(quiet, 'harmless overlap')} not shown")
        blocks += [f"  note: {one_line(note)}" for note in one.notes]
    if answer.clean:
        what = "worktree or branch" if answer.clean == 1 else "worktrees and branches"
        verb = "merges" if answer.clean == 1 else "merge"
        head.append(f"{answer.clean} {what} {verb} cleanly, without overlaps")
    if not answer.results and not answer.clean:
        head.append("there is no other worktree, and no branch with commits in the last 14 days")
    if answer.left_out:
        head.append(
            f"{len(answer.left_out)} more were not compared: name them to compare them "
            f"({', '.join(answer.left_out[:3])}, ...)"
        )
    return head, blocks


def _rival(one: Rival) -> str:
    where = f"{one.branch or 'detached'}@{one.head[:7]}"
    dirty = f", {count_of(one.uncommitted, 'uncommitted file')}" if one.uncommitted else ""
    base = f", merge base {one.base[:7]}" if one.base else ""
    return f"{one.name} ({where}{dirty}{base})"


def _collision(one: CollisionLine) -> str:
    return (
        f"{one.grade}: {one_line(one.said)}\tyours {one.mine} at {one.mine_site}, "
        f"theirs {one.theirs} at {one.theirs_site}"
    )


def history(answer: HistoryAnswer) -> Shown:
    """Change by change, newest first; or the definitions of a file, or what changed together."""
    head = [answer.handle]
    if answer.together:
        head.append(f"changed together with it, in {count_of(answer.commits, 'commit')}:")
        return head, [f"{one.count}\t{one.handle}" for one in answer.together]
    blocks = [
        f"{one.handle}\t{lines_of(one.start_line, one.end_line)}  {one.commit[:10]}  {one.date}  "
        f"{one.author}  {one_line(one.subject)}"
        for one in answer.definitions
    ]
    blocks += ["\n".join(_event(one)) for one in answer.results]
    if answer.more:
        blocks.append("older changes are omitted (--limit, --since)")
    return head, blocks


def _event(one: HistoryEvent) -> Iterator[str]:
    was = f"  was {one.old_handle}" if one.old_handle else ""
    who = f"{one.date}  {one.author}  " if one.commit else ""
    how = " and ".join(one.how)
    yield f"{one.commit[:10] or 'uncommitted'}  {who}{how}  {one_line(one.subject)}{was}"
    for line in one.patch:
        yield f"    {line}"
