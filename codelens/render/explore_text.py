"""Renders a capsule as text and JSON: files with their definitions, numbered code lines.

    src/auth.py
    #Session.validate 10-42 method, names the task
    10:def validate(self, token):
    …
    31:    return token

Line numbers have the form of `grep -n`: the text after the colon is exactly the line.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace

from codelens.answers.reading_answers import (
    ExploreAnswer,
    LeftOut,
    LinkedNote,
    NamedDefinition,
    NamedFile,
    Piece,
)  # fmt: skip
from codelens.render import text_pieces, token_budget
from codelens.render.reading_text import Json, picked, receipt_json, with_usable_paths
from codelens.render.text_pieces import lines_of, one_line, receipt_line, safe
from codelens.render.token_budget import size_of
from codelens.types import Receipt
from codelens.wording import count_of

MOST_TOKENS = 8000
"""Maximum size of an answer whose size was not given."""
GAP = "…"
_DIRECTION = {
    "debug": "callers and callees", "refactor": "callers", "modify": "callees",
    "explore": "callees",
}  # fmt: skip


def explore(answer: ExploreAnswer) -> str:
    """Render the whole text for an agent."""
    rows = [receipt_line(answer.receipt), *(f"note: {one_line(note)}" for note in answer.notes)]
    if answer.note_count > len(answer.notes):
        rows.append(f"note: {count_of(answer.note_count - len(answer.notes), 'more note')}")
    return "\n".join([*rows, *body(answer)])


def body(answer: ExploreAnswer, *, typed: bool = False) -> list[str]:
    """Render the lines without the receipt and the notes.

    Args:
        answer: the answer.
        typed: next calls are shell commands instead of tool calls.
    """
    rows = [intent_line(answer.intent, answer.intent_words)]
    rows += context_lines(answer.contexts, answer.gone_contexts, answer.context_count)
    if any(piece.sent == "unchanged" for piece in answer.pieces):
        rows.append(_AGAIN_TYPED if typed else AGAIN)
    path, elsewhere = "", {file.path: file for file in answer.named}
    for piece in answer.pieces:
        if piece.path != path:
            rows += _named_in(elsewhere, path)
            path = piece.path
            rows.append(one_line(path))
        rows.append(
            heading(piece.handle, piece.start_line, piece.end_line, piece.kind, piece.about)
        )
        last = 0
        for number, text in piece.lines:
            if last and number > last + 1 and piece.left_out:
                rows.append(GAP)
            rows.append(line(number, text))
            last = number
    rows += _named_in(elsewhere, path)
    if elsewhere:
        rows.append(NAMED)
        rows += map(named_file, elsewhere.values())
    if heading_of_tests := tests_heading(answer.tests, answer.test_count):
        rows.append(heading_of_tests)
        rows += [named_file(test) for test in answer.tests]
    if answer.more:
        rows.append(more_line(answer.more, typed=typed))
    if not answer.pieces:
        rows.append("nothing found")
    return rows


AGAIN = "code sent earlier is left out: again=true sends it once more"
_AGAIN_TYPED = "code sent earlier is left out: --again prints it once more"
NAMED = "also (path: name line; expand path#name):"
_HERE = "also here: "
"""Begins a line that names more definitions of a file, below those that are shown."""
TESTS = "tests:"


def tests_heading(tests: Sequence[NamedFile], count: int) -> str:
    """Return the heading of the shown tests; empty if there are none."""
    return f"tests ({len(tests)} of {count}):" if len(tests) < count else TESTS if tests else ""


def context_lines(contexts: Sequence[LinkedNote], gone: int, count: int) -> list[str]:
    """Render saved notes, the number of others, and the number of those on removed code."""
    rows = [text_pieces.notes_with_text(context) for context in contexts]
    if count > len(contexts):
        rows.append(count_of(count - len(contexts), "more saved note"))
    return [*rows, text_pieces.gone_notes(gone)] if gone else rows


def more_line(more: LeftOut, *, typed: bool = False) -> str:
    """Describe the omitted code, and the call that reads it."""
    left = [f"{GAP} marks lines left out"] if more.cut else []
    if more.definitions:
        left.append(f"{count_of(more.definitions, 'definition')} below")
    if typed:
        call = "codelens expand " + " ".join(shlex.quote(handle) for handle in more.handles)
    else:
        call = "cl_expand handles " + json.dumps(list(more.handles), ensure_ascii=False)
    return f"{', '.join(left)}; next: {one_line(call)}" if more.handles else ", ".join(left)


def intent_line(intent: str, words: tuple[str, ...]) -> str:
    """Describe the derived intent and its words."""
    why = f" ({', '.join(words)})" if words else ""
    return f"intent {intent}{why}: {_DIRECTION[intent]}"


def head(receipt: Receipt, intent: str, words: tuple[str, ...], notes: Sequence[str]) -> list[str]:
    """Render the lines above the code."""
    note_lines = [f"note: {one_line(note)}" for note in notes]
    return [receipt_line(receipt), *note_lines, intent_line(intent, words)]


def heading(handle: str, start_line: int, end_line: int, kind: str, about: str) -> str:
    """Render the heading of a definition: the end of its handle, lines, kind and reason."""
    _, sign, symbol = handle.partition("#")
    name = f"#{one_line(symbol)} " if sign else ""
    return f"{name}{lines_of(start_line, end_line)} {kind}{about and f', {one_line(about)}'}"


def line(number: int, text: str) -> str:
    """Render a line of code."""
    return f"{number}:{safe(text)}"


def named_file(named: NamedFile) -> str:
    """Render a file with names of its definitions in one line."""
    details = "; ".join(part for part in (_names(named), named.about) if part)
    return f"{one_line(named.path)}{details and f': {details}'}"


def named_here(named: NamedFile) -> str:
    """Render names of definitions of a file of which others are shown above."""
    return _HERE + _names(named)


def _named_in(elsewhere: dict[str, NamedFile], path: str) -> list[str]:
    """Take the names of a file whose shown definitions end here."""
    named = elsewhere.pop(path, None)
    return [named_here(named)] if named is not None else []


def _names(named: NamedFile) -> str:
    return ", ".join(map(named_definition, named.definitions))


def named_definition(named: NamedDefinition) -> str:
    """Render a name with its line; owners, which cost as much as two names, only if needed."""
    return f"{one_line(named.short)} {named.line}"


def cost(text: str) -> int:
    """Return the bytes of a line of the answer, including its end."""
    return size_of(text) + 1


def by_file(pieces: Sequence[Piece]) -> list[Piece]:
    """Group pieces, best first, by file; the best remain first."""
    files: dict[str, list[Piece]] = {}
    for piece in pieces:
        files.setdefault(piece.path, []).append(piece)
    return [piece for own in files.values() for piece in own]


# A capsule as JSON values; docs/explore.md documents them.


def explore_json(answer: ExploreAnswer) -> Json:
    """Return a whole capsule."""
    fields: dict[str, object] = {
        "receipt": receipt_json(answer.receipt),
        **picked(answer, "task intent intent_words"),
        "results": [_piece(piece) for piece in answer.pieces],
        "named": [_file(file) for file in answer.named],
        "tests": [_file(test) for test in answer.tests],
        "contexts": [asdict(context) for context in answer.contexts],
        **picked(answer, "notes test_count"),
    }
    if answer.context_count > len(answer.contexts):
        fields["context_count"] = answer.context_count
    if answer.note_count > len(answer.notes):
        fields["note_count"] = answer.note_count
    fields |= picked(answer, "", "gone_contexts")
    if answer.more:
        fields["next"] = asdict(answer.more)
    return with_usable_paths(fields)


def fitted_json(answer: ExploreAnswer, max_tokens: int) -> tuple[str, ExploreAnswer]:
    """Return the JSON within a number of tokens, and the part of the answer in it."""
    text = token_budget.fitted_json(explore_json(answer), "results", max_tokens)
    shown: list[object] = json.loads(text)["results"]
    return text, replace(answer, pieces=answer.pieces[: len(shown)])


def _piece(piece: Piece) -> Json:
    return {
        **picked(piece, "handle path start_line end_line symbol kind part"),
        "why": piece.about,
        "lines": [[number, text] for number, text in piece.lines],
        **picked(piece, "", "left_out stale sent sent_lines"),
    }


def _file(file: NamedFile) -> Json:
    return {
        "path": file.path,
        "definitions": [
            {"symbol": definition.name, "line": definition.line} for definition in file.definitions
        ],
    }
