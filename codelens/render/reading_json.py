"""Answers as plain values for JSON: one stable shape for the command line and the server.

Documented in docs/cli.md; a key is added now and then, none changes its meaning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from codelens.answers.reading_answers import (
    Excerpt,
    ExpandAnswer,
    Hit,
    OutlineAnswer,
    OutlineFile,
    SearchAnswer,
    StatusAnswer,
)
from codelens.render.json_paths import with_usable_paths
from codelens.types import Receipt

Json = Mapping[str, object]


def receipt(answer: Receipt) -> Json:
    """What every answer stands on."""
    return asdict(answer)


def search(answer: SearchAnswer) -> Json:
    """The places found, best first; `more` only where some were left out."""
    found: dict[str, object] = {
        "receipt": receipt(answer.receipt),
        "query": answer.query,
        "mode": answer.mode,
        "results": [hit(one) for one in answer.results],
        "notes": list(answer.notes),
    }
    if answer.more:
        found["more"] = answer.more
    return with_usable_paths(found)


def hit(one: Hit) -> Json:
    """One place; `stale`, `alike`, `also`, `explain` only where there is something to say."""
    found: dict[str, object] = {
        "handle": one.handle,
        "path": one.path,
        "start_line": one.start_line,
        "end_line": one.end_line,
        "symbol": one.symbol,
        "kind": one.kind,
        "language": one.language,
        "score": one.score,
        "signature": one.signature,
        "why": one.why,
    }
    if one.stale:
        found["stale"] = True
    if one.alike:
        found["alike"] = list(one.alike)
    if one.also:
        found["also"] = list(one.also)
    if one.explain is not None:
        found["explain"] = dict(one.explain)
    return found


def expand(answer: ExpandAnswer) -> Json:
    """One result for each handle asked, in order."""
    results = [excerpt(one) for one in answer.items]
    return with_usable_paths({"receipt": receipt(answer.receipt), "results": results})


def excerpt(one: Excerpt) -> Json:
    """The text of a handle, or its error and the nearest candidates."""
    if one.error:
        return {"handle": one.handle, "asked": one.asked, "error": one.error, "near": [*one.near]}
    found: dict[str, object] = {
        "handle": one.handle,
        "asked": one.asked,
        "path": one.path,
        "start_line": one.start_line,
        "end_line": one.end_line,
        "language": one.language,
        "text": one.text,
    }
    if one.moved:
        found["moved"] = one.moved
    if one.truncated:
        # Reading is imported late: a search has no need of it.
        from codelens.render.excerpt_rest import rest_of

        found["truncated"] = True
        if rest := rest_of(one):
            found["rest"] = rest
    return found


def outline(answer: OutlineAnswer) -> Json:
    """Files with their definitions, and sub-folders."""
    found: dict[str, object] = {
        "receipt": receipt(answer.receipt),
        "target": answer.target,
        "results": [_outline_file(one) for one in answer.files],
        "folders": [asdict(one) for one in answer.folders],
        "notes": list(answer.notes),
    }
    return with_usable_paths(found)


def _outline_file(one: OutlineFile) -> Json:
    found = asdict(one)
    if not one.stale:
        del found["stale"]
    return found


def status(answer: StatusAnswer) -> Json:
    """Where one stands."""
    found = asdict(answer)
    del found["receipt"]
    found["languages"] = dict(answer.languages)
    return {"receipt": receipt(answer.receipt), "status": found}


def results(found: Sequence[object]) -> Json:
    """Values that stand on no view."""
    return {"results": list(found)}
