"""A capsule as plain values for JSON; documented in docs/explore.md."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

from codelens.answers.explore_answers import ExploreAnswer, NamedFile, Piece
from codelens.render import token_budget
from codelens.render.json_paths import with_usable_paths
from codelens.render.reading_json import Json, receipt


def explore(answer: ExploreAnswer) -> Json:
    """All of a capsule."""
    fields: dict[str, object] = {
        "receipt": receipt(answer.receipt),
        "task": answer.task,
        "intent": answer.intent,
        "intent_words": [*answer.intent_words],
        "results": [_piece(piece) for piece in answer.pieces],
        "named": [_file(file) for file in answer.named],
        "tests": [_file(test) for test in answer.tests],
        "contexts": [asdict(context) for context in answer.contexts],
        "notes": [*answer.notes],
    }
    fields["test_count"] = answer.test_count
    if answer.context_count > len(answer.contexts):
        fields["context_count"] = answer.context_count
    if answer.note_count > len(answer.notes):
        fields["note_count"] = answer.note_count
    if answer.gone_contexts:
        fields["gone_contexts"] = answer.gone_contexts
    if answer.more:
        fields["next"] = asdict(answer.more)
    return with_usable_paths(fields)


def fitted(answer: ExploreAnswer, max_tokens: int) -> tuple[str, ExploreAnswer]:
    """The JSON in a number of tokens, and what of the answer is in it."""
    text = token_budget.fitted_json(explore(answer), "results", max_tokens)
    shown: list[object] = json.loads(text)["results"]
    return text, replace(answer, pieces=answer.pieces[: len(shown)])


def _piece(piece: Piece) -> Json:
    fields: dict[str, object] = {
        "handle": piece.handle,
        "path": piece.path,
        "start_line": piece.start_line,
        "end_line": piece.end_line,
        "symbol": piece.symbol,
        "kind": piece.kind,
        "part": piece.part,
        "why": piece.about,
        "lines": [[number, text] for number, text in piece.lines],
    }
    if piece.left_out:
        fields["left_out"] = [*piece.left_out]
    if piece.stale:
        fields["stale"] = True
    if piece.sent:
        fields["sent"] = piece.sent
    if piece.sent_lines:
        fields["sent_lines"] = [*piece.sent_lines]
    return fields


def _file(file: NamedFile) -> Json:
    return {
        "path": file.path,
        "definitions": [{"symbol": known.name, "line": known.line} for known in file.definitions],
    }
