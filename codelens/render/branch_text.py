"""Renders answers about branches as text, JSON and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

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
from codelens.render.reading_text import Json, picked, receipt_json
from codelens.render.text_pieces import lines_of, one_line, part_of
from codelens.wording import count_of, plural, some_of

Shown = tuple[list[str], list[str]]
"""The text of the whole answer, and blocks that may be left out from the end."""
_USES_SHOWN = 5
_SPANS_SHOWN = 4
_PUBLIC_SHOWN = 8
_TESTS_SHOWN = 8
_HARMLESS = "harmless"
_ALL = " (--all, format detailed)"
_OLDER = "older changes are omitted (limit, since)"


def diff(answer: DiffAnswer, *, stat: bool = False) -> Shown:
    """Render what breaks first, then the differences by file."""
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
            blocks.append(f"tests to run: {some_of(answer.tests, _TESTS_SHOWN, ' ')}")
    for file in answer.files:
        blocks.append(_file_head(file))
        if not stat and not file.folded:
            blocks += [f"  {_definition(definition)}" for definition in file.definitions]
            blocks += [f"  {line}" for line in _outside(file.outside)]
    return head, blocks


def _nothing(answer: DiffAnswer) -> str:
    if not answer.left_out:
        return f"nothing differs{' in the files read so far' if answer.at_least else ''}"
    return f"nothing that you asked about differs; {_differ(answer.left_out, 'file')}"


def _differ(count: int, noun: str) -> str:
    return f"{count_of(count, noun)} differ{'s' * (count == 1)}"


def _broken(broken_use: BrokenUse) -> str:
    definition = f"{broken_use.handle} {broken_use.how}" + (
        f" (now {broken_use.now})" if broken_use.now else ""
    )
    verb = "broken" if broken_use.certain else "to check"
    shown = some_of(broken_use.uses, _USES_SHOWN)
    users = f" of {broken_use.users}" if broken_use.users > broken_use.count else ""
    return f"{verb}: {definition}: {count_of(broken_use.count, 'use')}{users} unchanged: {shown}"


def _public(title: str, handles: Sequence[str]) -> list[str]:
    if not handles:
        return []
    return [f"{title}: {some_of(handles, _PUBLIC_SHOWN)}"]


def _file_head(file: FileDiff) -> str:
    old_path_text = f" (was {file.old_path})" if file.old_path else ""
    counted: dict[str, int] = {}
    for definition in file.definitions:
        for how in definition.how:
            counted[how] = counted.get(how, 0) + 1
    parts = [f"{count} {how}" for how, count in counted.items()]
    if file.folded:
        parts = [folded(file)]
    summary = ", ".join([*parts, *metadata_lines(file)])
    return f"{file.path}{old_path_text}  {file.how}{f'  {summary}' if summary else ''}"


def folded(file: FileDiff) -> str:
    """Explain why a file is listed as a whole, with its number of definitions."""
    inside = f" ({count_of(file.folded_count, 'definition')}: name its path)"
    return f"{file.folded}{inside if file.folded_count else ''}"


def metadata_lines(file: FileDiff) -> Iterator[str]:
    """Yield differences of a file outside of its lines: its mode, the commit of a submodule."""
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
            yield f"only the order changed: {some_of(part.names, _PUBLIC_SHOWN)}"
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
    return some_of([lines_of(*span) for span in spans], _SPANS_SHOWN, ",")


def conflicts(answer: ConflictsAnswer, *, detailed: bool = False) -> Shown:
    """Render the collisions by rival, the worst first."""
    head = [_verdict(answer)] if answer.results or answer.clean else []
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
            f"({some_of(answer.left_out, 3)})"
        )
    if answer.old_branches:
        noun = "branch" if answer.old_branches == 1 else "branches"
        head.append(
            f"{answer.old_branches:,} {noun} without commits in the last 14 days not compared: "
            "name them to compare them"
        )
    return head, blocks


def _verdict(answer: ConflictsAnswer) -> str:
    """Render git's verdict on all merges; the rest of the answer is about definitions."""
    conflicting = [rival.name for rival in answer.results if rival.merge == "conflicts"]
    untried = sum(rival.merge == "not tried" for rival in answer.results)
    every = len(answer.results) + answer.clean
    noun = "worktree or branch" if every == 1 else "worktrees and branches"
    if conflicting:
        verdict = (
            f"git conflicts with {len(conflicting)} of {every} {noun} ({some_of(conflicting, 3)})"
        )
    elif untried == every:
        return f"git did not try to merge {every} {noun}"
    else:
        verdict = f"git conflicts with none of {every} {noun}"
    return f"{verdict}; {untried} not tried" if untried else verdict


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
    """Render a line per definition: its handle, the change, and the worktree."""
    return [
        f"{elsewhere.handle}\t{' and '.join(elsewhere.how)}  in {elsewhere.worktree} "
        f"({elsewhere.branch or 'detached HEAD'})"
        for elsewhere in elsewheres
    ]


def history(answer: HistoryAnswer) -> Shown:
    """Render the changes, newest first; or a file's definitions, or what changed together."""
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
        blocks.append("no change since the given date; older changes exist (--since)")
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


# Answers about branches as JSON values; docs/branches.md documents their form.

_DROPPED = ("old_handle", "old_signature", "inside", "share_new")


def diff_json(answer: DiffAnswer) -> Json:
    """Return the files with their differences and the consequences."""
    return {
        "receipt": receipt_json(answer.receipt),
        "from": answer.old,
        "to": answer.new,
        "totals": dict(answer.totals),
        "results": [_file_json(file) for file in answer.files],
        "broken": [asdict(use) for use in answer.broken],
        **picked(answer, "added_public removed_public tests test_count at_least left_out notes"),
    }


def _file_json(file: FileDiff) -> dict[str, object]:
    fields = picked(file, "path how", "old_path folded")
    if file.folded:
        fields["folded_count"] = file.folded_count
    fields |= picked(file, "", "old_mode new_mode old_commit new_commit")
    fields["definitions"] = [_definition_json(line) for line in file.definitions]
    fields["outside"] = [
        {
            "how": part.how,
            "old_lines": _lines(part.old_lines),
            "new_lines": _lines(part.new_lines),
            **picked(part, "", "names"),
        }
        for part in file.outside
    ]
    return fields


def _definition_json(definition: DefinitionLine) -> dict[str, object]:
    fields = asdict(definition)
    fields["how"] = list(definition.how)
    fields["old_lines"] = _lines(definition.old_lines)
    fields["new_lines"] = _lines(definition.new_lines)
    for key in _DROPPED:
        if not fields[key]:
            del fields[key]
    return fields


def _lines(spans: Lines) -> list[list[int]]:
    return [list(span) for span in spans]


def conflicts_json(answer: ConflictsAnswer) -> Json:
    """Return the worktrees and branches with their collisions."""
    return {
        "receipt": receipt_json(answer.receipt),
        "results": [_rival_json(result) for result in answer.results],
        "git": _verdict(answer) if answer.results or answer.clean else "",
        "clean": answer.clean,
        "harmless": [_rival_json(result) for result in answer.harmless],
        **picked(answer, "left_out old_branches notes"),
    }


def _rival_json(rival: Rival) -> Json:
    return {
        **picked(rival, "name kind branch head base uncommitted merge"),
        "textual": [asdict(conflict) for conflict in rival.textual],
        "collisions": [asdict(collision) for collision in rival.collisions],
        "notes": list(rival.notes),
    }


def changed_elsewhere_json(elsewheres: Sequence[Elsewhere], left: int) -> Json:
    """Return definitions that other worktrees changed; `left` only if quiet changes are omitted."""
    rows = [asdict(elsewhere) for elsewhere in elsewheres]
    return {"results": rows, "left": left} if left else {"results": rows}


def history_json(answer: HistoryAnswer) -> Json:
    """Return changes of a definition, last changes of a file, and what changed together."""
    return {**asdict(answer), "receipt": receipt_json(answer.receipt)}


# The changes of a branch as Markdown for a pull request.


def diff_markdown(answer: DiffAnswer) -> list[str]:
    """Render a summary: what breaks, the interface, then the files."""
    totals = ", ".join(f"{count} {how}" for how, count in answer.totals)
    lines = [
        f"### {count_of(len(answer.files), 'file')} changed, {answer.old} → {answer.new}",
        "",
        *([f"{count_of(answer.left_out, 'other file')} not shown", ""] if answer.left_out else []),
        totals or "No definition differs.",
        "",
    ]
    if answer.broken:
        lines += ["#### Uses that were not changed with it", ""]
        for broken_use in answer.broken:
            at_least = "at least " if answer.at_least else ""
            left = broken_use.count - _USES_SHOWN
            uses = ", ".join(_code(use) for use in broken_use.uses[:_USES_SHOWN])
            uses += f" and {left} more" if left > 0 else ""
            now = f", now {_code(broken_use.now)}" if broken_use.now else ""
            lines.append(
                f"- {_code(broken_use.handle)} {broken_use.how}{now}: "
                f"{at_least}{count_of(broken_use.count, 'use')} "
                f"({uses})"
            )
        lines.append("")
    lines += _handles("#### Public surface removed or changed", answer.removed_public)
    lines += _handles("#### New public surface", answer.added_public)
    lines += _handles("#### Tests to run", answer.tests)
    lines += ["#### Changes", ""]
    for file in answer.files:
        lines += _file_markdown(file)
    return lines


def _handles(title: str, names: Sequence[str]) -> list[str]:
    return [title, "", *(f"- {_code(name)}" for name in names), ""] if names else []


def _file_markdown(file: FileDiff) -> Iterator[str]:
    old_path_text = f" (was {_code(file.old_path)})" if file.old_path else ""
    metadata = "".join(f", {text}" for text in metadata_lines(file))
    yield f"- {_code(file.path)}{old_path_text}: {folded(file) or file.how}{metadata}"
    if file.folded:
        return
    for definition in file.definitions:
        yield f"  - {_definition_markdown(definition)}"
    outside = [part.how for part in file.outside]
    if outside:
        yield f"  - outside of definitions: {', '.join(outside)}"


def _definition_markdown(definition: DefinitionLine) -> str:
    text = f"{_code(definition.symbol)}: {' and '.join(definition.how)}"
    if definition.old_handle and {"moved", "renamed"} & set(definition.how):
        text += f", was {_code(definition.old_handle)}"
    elif "signature" in definition.how:
        text += (
            f", {_code(one_line(definition.old_signature))} → "
            f"{_code(one_line(definition.signature))}"
        )
    return text


def _code(text: str) -> str:
    mark = "``" if "`" in text else "`"
    return f"{mark}{one_line(text)}{mark}"
