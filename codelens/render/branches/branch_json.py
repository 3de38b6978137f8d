"""Answers about branches as plain values for JSON; docs/branches.md has their shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from codelens.answers.branch_answers import (
    ConflictsAnswer,
    DefinitionLine,
    DiffAnswer,
    Elsewhere,
    FileDiff,
    HistoryAnswer,
    Lines,
    Rival,
)
from codelens.render.reading_json import Json, receipt

_DROPPED = ("old_handle", "old_signature", "inside", "share_new")

_WHERE_KNOWN = ("old_mode", "new_mode", "old_commit", "new_commit")


def diff(answer: DiffAnswer) -> Json:
    """Files with what differs in them, and what that means."""
    return {
        "receipt": receipt(answer.receipt),
        "from": answer.old,
        "to": answer.new,
        "totals": dict(answer.totals),
        "results": [_file(file) for file in answer.files],
        "broken": [
            {
                "how": use.how,
                "handle": use.handle,
                "now": use.now,
                "uses": list(use.uses),
                "count": use.count,
                "certain": use.certain,
                "users": use.users,
            }
            for use in answer.broken
        ],
        "added_public": list(answer.added_public),
        "removed_public": list(answer.removed_public),
        "tests": list(answer.tests),
        "test_count": answer.test_count,
        "at_least": answer.at_least,
        "left_out": answer.left_out,
        "notes": list(answer.notes),
    }


def _file(file: FileDiff) -> dict[str, object]:
    fields: dict[str, object] = {"path": file.path, "how": file.how}
    if file.old_path:
        fields["old_path"] = file.old_path
    if file.folded:
        fields["folded"] = file.folded
        fields["folded_count"] = file.folded_count
    for name in _WHERE_KNOWN:
        if getattr(file, name):
            fields[name] = getattr(file, name)
    fields["definitions"] = [_definition(line) for line in file.definitions]
    fields["outside"] = [
        {
            "how": part.how,
            "old_lines": _lines(part.old_lines),
            "new_lines": _lines(part.new_lines),
            **({"names": list(part.names)} if part.names else {}),
        }
        for part in file.outside
    ]
    return fields


def _definition(definition: DefinitionLine) -> dict[str, object]:
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


def conflicts(answer: ConflictsAnswer) -> Json:
    """Worktrees and branches with what collides."""
    return {
        "receipt": receipt(answer.receipt),
        "results": [_rival(result) for result in answer.results],
        "clean": answer.clean,
        "harmless": [_rival(result) for result in answer.harmless],
        "left_out": list(answer.left_out),
        "old_branches": answer.old_branches,
        "notes": list(answer.notes),
    }


def _rival(rival: Rival) -> Json:
    return {
        "name": rival.name,
        "kind": rival.kind,
        "branch": rival.branch,
        "head": rival.head,
        "base": rival.base,
        "uncommitted": rival.uncommitted,
        "textual": [asdict(conflict) for conflict in rival.textual],
        "collisions": [asdict(collision) for collision in rival.collisions],
        "notes": list(rival.notes),
    }


def changed_elsewhere(elsewheres: Sequence[Elsewhere], left: int) -> Json:
    """Definitions that other worktrees changed; `left` only where quiet changes are not there."""
    rows = [{**asdict(elsewhere), "how": list(elsewhere.how)} for elsewhere in elsewheres]
    return {"results": rows, "left": left} if left else {"results": rows}


def history(answer: HistoryAnswer) -> Json:
    """Changes of a definition, last changes of a file's definitions, what changed together."""
    return {
        "receipt": receipt(answer.receipt),
        "handle": answer.handle,
        "results": [
            {**asdict(result), "how": list(result.how), "patch": list(result.patch)}
            for result in answer.results
        ],
        "definitions": [asdict(definition) for definition in answer.definitions],
        "together": [asdict(together) for together in answer.together],
        "together_count": answer.together_count,
        "commits": answer.commits,
        "more": answer.more,
        "notes": list(answer.notes),
    }
