"""Answers about saved contexts as plain values for JSON; documented in docs/contexts.md."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

from codelens.answers.context_answers import (
    ForgetAnswer,
    LoadAnswer,
    SaveAnswer,
    SavedContext,
    TakenOver,
)
from codelens.render.reading_json import Json, receipt


def save(answer: SaveAnswer) -> Json:
    """What was saved."""
    return {
        "receipt": receipt(answer.receipt),
        "replaced": answer.replaced,
        "updated": answer.updated,
        "results": [context(answer.saved)],
        "notes": list(answer.notes),
    }


def load(answer: LoadAnswer) -> Json:
    """What was found; `more`, `hidden` and `former` only where there is something to say."""
    fields: dict[str, object] = {
        "receipt": receipt(answer.receipt),
        "query": answer.query,
        "exact": answer.exact,
        "results": [context(result) for result in answer.results],
        "notes": list(answer.notes),
    }
    if answer.more:
        fields["more"] = answer.more
    if answer.hidden:
        fields["hidden"] = answer.hidden
    if answer.former:
        fields["former"] = [asdict(place) for place in answer.former]
    return fields


def forget(answer: ForgetAnswer) -> Json:
    """Which names were forgotten."""
    return asdict(answer)


def taken_over(answer: TakenOver) -> Json:
    """What came of an import."""
    return asdict(answer)


def context(saved_context: SavedContext) -> Json:
    """A context; times in UTC."""
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
        return None  # an import may hold any number
