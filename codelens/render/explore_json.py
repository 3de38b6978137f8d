"""A capsule as plain values for JSON; documented in docs/explore.md."""

from __future__ import annotations

from dataclasses import asdict

from codelens.answers.explore_answers import ExploreAnswer, NamedFile, Piece
from codelens.render.json_paths import with_usable_paths
from codelens.render.reading_json import Json, receipt


def explore(answer: ExploreAnswer) -> Json:
    """All of a capsule."""
    found: dict[str, object] = {
        "receipt": receipt(answer.receipt),
        "task": answer.task,
        "intent": answer.intent,
        "intent_words": [*answer.intent_words],
        "results": [_piece(one) for one in answer.pieces],
        "named": [_file(one) for one in answer.named],
        "tests": [_file(one) for one in answer.tests],
        "contexts": [asdict(one) for one in answer.contexts],
        "notes": [*answer.notes],
    }
    if answer.gone_contexts:
        found["gone_contexts"] = answer.gone_contexts
    if answer.more:
        found["next"] = asdict(answer.more)
    return with_usable_paths(found)


def _piece(one: Piece) -> Json:
    found: dict[str, object] = {
        "handle": one.handle,
        "path": one.path,
        "start_line": one.start_line,
        "end_line": one.end_line,
        "symbol": one.symbol,
        "kind": one.kind,
        "part": one.part,
        "why": one.about,
        "lines": [[number, text] for number, text in one.lines],
    }
    if one.left_out:
        found["left_out"] = [*one.left_out]
    if one.stale:
        found["stale"] = True
    return found


def _file(one: NamedFile) -> Json:
    return {
        "path": one.path,
        "definitions": [{"symbol": known.name, "line": known.line} for known in one.definitions],
    }
