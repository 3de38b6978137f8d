"""Answers about branches as plain values for JSON; docs/branches.md has their shapes."""

from __future__ import annotations

from dataclasses import asdict

from codelens.answers.branch_answers import (
    ConflictsAnswer,
    DefinitionLine,
    DiffAnswer,
    FileDiff,
    HistoryAnswer,
    Lines,
)
from codelens.render.reading_json import Json, receipt

_DROPPED = ("old_handle", "old_signature", "inside", "share_new")


def diff(answer: DiffAnswer) -> Json:
    """Files with what differs in them, and what that means."""
    return {
        "receipt": receipt(answer.receipt),
        "from": answer.old,
        "to": answer.new,
        "totals": dict(answer.totals),
        "results": [_file(one) for one in answer.files],
        "broken": [
            {
                "how": one.how,
                "handle": one.handle,
                "now": one.now,
                "uses": list(one.uses),
                "count": one.count,
                "certain": one.certain,
                "users": one.users,
            }
            for one in answer.broken
        ],
        "added_public": list(answer.added_public),
        "removed_public": list(answer.removed_public),
        "tests": list(answer.tests),
        "test_count": answer.test_count,
        "at_least": answer.at_least,
        "notes": list(answer.notes),
    }


def _file(one: FileDiff) -> dict[str, object]:
    found: dict[str, object] = {"path": one.path, "how": one.how}
    if one.old_path:
        found["old_path"] = one.old_path
    if one.folded:
        found["folded"] = one.folded
    found["definitions"] = [_definition(line) for line in one.definitions]
    found["outside"] = [
        {
            "how": part.how,
            "old_lines": _lines(part.old_lines),
            "new_lines": _lines(part.new_lines),
            **({"names": list(part.names)} if part.names else {}),
        }
        for part in one.outside
    ]
    return found


def _definition(one: DefinitionLine) -> dict[str, object]:
    found = asdict(one)
    found["how"] = list(one.how)
    found["old_lines"] = _lines(one.old_lines)
    found["new_lines"] = _lines(one.new_lines)
    for key in _DROPPED:
        if not found[key]:
            del found[key]
    return found


def _lines(spans: Lines) -> list[list[int]]:
    return [list(span) for span in spans]


def conflicts(answer: ConflictsAnswer) -> Json:
    """Worktrees and branches with what collides."""
    return {
        "receipt": receipt(answer.receipt),
        "results": [
            {
                "name": one.name,
                "kind": one.kind,
                "branch": one.branch,
                "head": one.head,
                "base": one.base,
                "uncommitted": one.uncommitted,
                "textual": [asdict(conflict) for conflict in one.textual],
                "collisions": [asdict(collision) for collision in one.collisions],
                "notes": list(one.notes),
            }
            for one in answer.results
        ],
        "clean": answer.clean,
        "left_out": list(answer.left_out),
        "notes": list(answer.notes),
    }


def history(answer: HistoryAnswer) -> Json:
    """Changes of a definition, last changes of a file's definitions, what changed together."""
    return {
        "receipt": receipt(answer.receipt),
        "handle": answer.handle,
        "results": [
            {**asdict(one), "how": list(one.how), "patch": list(one.patch)}
            for one in answer.results
        ],
        "definitions": [asdict(one) for one in answer.definitions],
        "together": [asdict(one) for one in answer.together],
        "commits": answer.commits,
        "more": answer.more,
        "notes": list(answer.notes),
    }
