"""Sessions and their recovery as plain values for JSON; documented in docs/sessions.md."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

from codelens.answers.session_answers import RecoverAnswer, SessionAnswer
from codelens.render import contexts_json
from codelens.render.reading_json import Json, receipt


def session(answer: SessionAnswer) -> Json:
    """The trail of a session in `results`, or all sessions in `sessions`."""
    fields: dict[str, object] = {
        "receipt": receipt(answer.receipt),
        "session": answer.session,
        "results": [
            {**_without(asdict(call), "at_s", "session"), "at": _time(call.at_s)}
            for call in answer.calls
        ],
        "notes": list(answer.notes),
    }
    if answer.more:
        fields["more"] = answer.more
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


def recover(answer: RecoverAnswer) -> Json:
    """What a session needs to go on; the saved contexts are `results`."""
    fields: dict[str, object] = {
        "receipt": receipt(answer.receipt),
        "session": answer.session,
        "calls": answer.calls,
        "results": [contexts_json.context(saved) for saved in answer.saved],
        "trail": [asdict(tool) for tool in answer.trail],
        "files": [asdict(file) for file in answer.files],
        "definitions": list(answer.definitions),
        "changes": asdict(answer.changes) if answer.changes is not None else None,
        "elsewhere": [asdict(work) for work in answer.elsewhere],
        "forgot": answer.forgot,
        "notes": list(answer.notes),
    }
    if answer.calls:
        fields["first"], fields["last"] = _time(answer.first_s), _time(answer.last_s)
    if answer.more_files:
        fields["more_files"] = answer.more_files
    if answer.more_definitions:
        fields["more_definitions"] = answer.more_definitions
    return fields


def _without(fields: dict[str, object], *names: str) -> dict[str, object]:
    return {name: value for name, value in fields.items() if name not in names}


def _time(at_s: int) -> str | None:
    try:
        return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return None  # a damaged line may hold any number
