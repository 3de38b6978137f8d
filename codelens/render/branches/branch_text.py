"""Answers about branches as short text, alike for people and agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codelens.answers.branch_answers import (
    BrokenUse,
    CollisionLine,
    ConflictsAnswer,
    DefinitionLine,
    DiffAnswer,
    Elsewhere,
    FileDiff,
    HistoryAnswer,
    HistoryEvent,
    Lines,
    OutsideLines,
    Rival,
)
from codelens.plurals import count_of, plural
from codelens.render.text_pieces import lines_of, one_line, part_of

Shown = tuple[list[str], list[str]]
"""What is said of the whole, and blocks that may be left out from the end."""
_USES_SHOWN = 5
_SPANS_SHOWN = 4
_PUBLIC_SHOWN = 8
_TESTS_SHOWN = 8
_HARMLESS = "harmless"
_ALL = " (--all, format detailed)"
_OLDER = "older changes are omitted (limit, since)"


def diff(answer: DiffAnswer, *, stat: bool = False) -> Shown:
    """What breaks first, then file by file what differs."""
    totals = ", ".join(f"{count} {how}" for how, count in answer.totals)
    files = count_of(len(answer.files), "file")
    others = f" ({_differ(answer.left_out, 'other file')})" if answer.left_out else ""
    definitions = f"; definitions: {totals}" if totals else ""
    head = [f"{answer.old} -> {answer.new}: {files}{others}{definitions}"]
    if not answer.files:
        head = [f"{answer.old} -> {answer.new}: {_nothing(answer)}"]
    blocks: list[str] = []
    if not stat:
        blocks += [_broken(use) for use in answer.broken]
        blocks += _public("public surface removed or changed", answer.removed_public)
        blocks += _public("new public surface", answer.added_public)
        if answer.tests:
            blocks.append(f"tests to run: {_some(answer.tests, _TESTS_SHOWN, ' ')}")
    for file in answer.files:
        blocks.append(_file_head(file))
        if not stat and not file.folded:
            blocks += [f"  {_definition(definition)}" for definition in file.definitions]
            blocks += [f"  {line}" for line in _outside(file.outside)]
    return head, blocks


def _nothing(answer: DiffAnswer) -> str:
    if not answer.left_out:
        return f"nothing differs{' in what was looked at in time' if answer.at_least else ''}"
    return f"nothing of what was asked for differs; {_differ(answer.left_out, 'file')}"


def _differ(count: int, noun: str) -> str:
    return f"{count_of(count, noun)} differ{'s' * (count == 1)}"


def _broken(broken_use: BrokenUse) -> str:
    definition = f"{broken_use.handle} {broken_use.how}" + (
        f" (now {broken_use.now})" if broken_use.now else ""
    )
    verb = "broken" if broken_use.certain else "to check"
    shown = _some(broken_use.uses, _USES_SHOWN)
    users = f" of {broken_use.users}" if broken_use.users > broken_use.count else ""
    return f"{verb}: {definition}: {count_of(broken_use.count, 'use')}{users} unchanged: {shown}"


def _public(title: str, handles: Sequence[str]) -> list[str]:
    if not handles:
        return []
    return [f"{title}: {_some(handles, _PUBLIC_SHOWN)}"]


def _some(names: Sequence[str], most: int, sign: str = ", ") -> str:
    """The first names, and how many more there are."""
    left = len(names) - most
    return f"{sign.join(names[:most])}{f' and {left} more' if left > 0 else ''}"


def _file_head(file: FileDiff) -> str:
    old_path_text = f" (was {file.old_path})" if file.old_path else ""
    counted: dict[str, int] = {}
    for definition in file.definitions:
        for how in definition.how:
            counted[how] = counted.get(how, 0) + 1
    parts = [f"{count} {how}" for how, count in counted.items()]
    if file.folded:
        parts = [folded(file)]
    summary = ", ".join([*parts, *beside_lines(file)])
    return f"{file.path}{old_path_text}  {file.how}{f'  {summary}' if summary else ''}"


def folded(file: FileDiff) -> str:
    """Why a file is listed as a whole, with how many definitions."""
    inside = f" ({count_of(file.folded_count, 'definition')}: name its path)"
    return f"{file.folded}{inside if file.folded_count else ''}"


def beside_lines(file: FileDiff) -> Iterator[str]:
    """What of a file differs beside its lines: its mode, the commit of a submodule."""
    if file.old_mode:
        yield f"mode {file.old_mode} -> {file.new_mode}"
    if file.old_commit or file.new_commit:
        yield f"commit {_short(file.old_commit) or 'none'} -> {_short(file.new_commit) or 'none'}"


def _short(commit: str) -> str:
    oid, dash, dirty = commit.partition("-")
    return oid[:7] + dash + dirty


def _definition(definition_line: DefinitionLine) -> str:
    parts = [definition_line.handle, " and ".join(definition_line.how)]
    if definition_line.old_handle and {"moved", "renamed"} & set(definition_line.how):
        parts.append(f"was {definition_line.old_handle}")
        if definition_line.share_new:
            parts.append(f"{definition_line.share_new:.0%} new")
    elif "signature" in definition_line.how:
        parts.append(
            f"{one_line(definition_line.old_signature)} -> {one_line(definition_line.signature)}"
        )
    elif "added" in definition_line.how:
        parts.append(one_line(definition_line.signature))
    if definition_line.inside:
        parts.append(f"with {count_of(definition_line.inside, 'definition')} in it")
    lines = lines_of(definition_line.start_line, definition_line.end_line)
    return "  ".join([parts[0], lines, *parts[1:]])


def _outside(parts: Sequence[OutsideLines]) -> Iterator[str]:
    for part in parts:
        if part.how == "reordered":
            yield f"only the order changed: {_some(part.names, _PUBLIC_SHOWN)}"
            continue
        if not part.new_lines and not part.old_lines:
            yield f"only {part.how} differ{'s' if part.how == 'encoding' else ''}"
            continue
        if part.how == "line ends":
            spans = _spans(part.new_lines)
            yield f"line ends differ: {_lines_word(spans)}{spans}"
            continue
        new_spans, old_spans = _spans(part.new_lines), _spans(part.old_lines)
        parts_shown = (
            _lines_word(new_spans) + new_spans if new_spans else "",
            f"was {old_spans}" if old_spans else "",
        )
        yield f"{part.how}: {', '.join(filter(None, parts_shown))}"


def _lines_word(spans: str) -> str:
    return "lines " if "," in spans or "-" in spans else "line "


def _spans(spans: Lines) -> str:
    return _some([lines_of(*span) for span in spans], _SPANS_SHOWN, ",")


def conflicts(answer: ConflictsAnswer, *, detailed: bool = False) -> Shown:
    """Rival by rival, what collides; the worst first."""
    head: list[str] = []
    blocks: list[str] = []
    for result in (*answer.results, *(answer.harmless if detailed else ())):
        blocks.append(_rival(result))
        blocks += [
            f"  {conflict.kind}: {conflict.path}"
            + (" (harmless: both only added definitions)" if conflict.harmless else "")
            for conflict in result.textual
        ]
        blocks += [
            f"  {_collision(line)}"
            for line in result.collisions
            if detailed or line.grade != _HARMLESS
        ]
        quiet = sum(line.grade == _HARMLESS for line in result.collisions)
        if quiet and not detailed:
            blocks.append(f"  {count_of(quiet, 'harmless overlap')} not shown{_ALL}")
        blocks += [f"  note: {one_line(note)}" for note in result.notes]
    if answer.clean:
        noun = "worktree or branch" if answer.clean == 1 else "worktrees and branches"
        verb = "merges" if answer.clean == 1 else "merge"
        quiet = sum(len(rival.collisions) for rival in answer.harmless)
        overlaps = (
            f"with {count_of(quiet, 'harmless overlap')}{_ALL}" if quiet else "without overlaps"
        )
        head.append(f"{answer.clean} {noun} {verb} cleanly, {overlaps}")
    if not answer.results and not answer.clean:
        head.append("there is no other worktree, and no branch with commits in the last 14 days")
    if answer.left_out:
        head.append(
            f"{len(answer.left_out)} more were not compared: name them to compare them "
            f"({_some(answer.left_out, 3)})"
        )
    if answer.old_branches:
        noun = "branch" if answer.old_branches == 1 else "branches"
        head.append(
            f"{answer.old_branches:,} {noun} without commits in the last 14 days not compared: "
            "name them to compare them"
        )
    return head, blocks


def _rival(rival: Rival) -> str:
    where = f"{rival.branch or 'detached'}@{rival.head[:7]}"
    dirty = f", {count_of(rival.uncommitted, 'uncommitted file')}" if rival.uncommitted else ""
    called = "merge base" if rival.is_merge_base else "base"
    base = f", {called} {rival.base[:7]}" if rival.base else ""
    return f"{rival.name} ({where}{dirty}{base})"


def _collision(collision: CollisionLine) -> str:
    return (
        f"{collision.grade}: {one_line(collision.message)}\tyours {collision.mine} at "
        f"{collision.mine_site}, "
        f"theirs {collision.theirs} at {collision.theirs_site}"
    )


def changed_elsewhere(elsewheres: Sequence[Elsewhere]) -> list[str]:
    """A line for each definition: its handle, what changed, and in which worktree."""
    return [
        f"{elsewhere.handle}\t{' and '.join(elsewhere.how)}  in {elsewhere.worktree} "
        f"({elsewhere.branch or 'detached HEAD'})"
        for elsewhere in elsewheres
    ]


def history(answer: HistoryAnswer) -> Shown:
    """Change by change, newest first; or the definitions of a file, or what changed together."""
    head = [answer.handle]
    if answer.together:
        changes = sum(bool(result.commit) for result in answer.results)
        of_all = f" of {changes}" if answer.commits < changes else ""
        head.append(
            f"changed together with it, in {answer.commits}{of_all} "
            f"{plural('commit', changes)}{part_of(answer.together, answer.together_count)}:"
        )
        blocks = [f"{together.count}\t{together.handle}" for together in answer.together]
        return head, [*blocks, *([_OLDER] if answer.more else [])]
    blocks = [
        f"{definition.handle}\t{lines_of(definition.start_line, definition.end_line)}  "
        f"{definition.commit[:10]}  {definition.date}  "
        f"{definition.author}  {one_line(definition.subject)}"
        for definition in answer.definitions
    ]
    blocks += ["\n".join(_event(result)) for result in answer.results]
    if answer.more and not blocks:
        blocks.append("no change in the time that was asked for; there are older ones (--since)")
    elif answer.more:
        blocks.append(_OLDER)
    return head, blocks


def _event(event: HistoryEvent) -> Iterator[str]:
    old_handle_text = f"  was {event.old_handle}" if event.old_handle else ""
    byline = f"{event.date}  {event.author}  " if event.commit else ""
    how = " and ".join(event.how)
    commit = event.commit[:10] or "uncommitted"
    yield f"{commit}  {byline}{how}  {one_line(event.subject)}{old_handle_text}"
    for line in event.patch:
        yield f"    {line}"
