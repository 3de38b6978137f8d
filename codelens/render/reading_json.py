"""Answers as plain values for JSON: one stable shape for the command line and the server.

Documented in docs/cli.md; a key is added now and then, none changes its meaning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from codelens.answers.reading_answers import (
    Excerpt,
    ExpandAnswer,
    OutlineAnswer,
    OutlineFile,
    RefsAnswer,
    SourceAnswer,
    SourceLink,
    SourceMark,
    StatusAnswer,
)
from codelens.answers.search_answers import Hit, SearchAnswer
from codelens.render.json_paths import with_usable_paths
from codelens.types import Receipt

Json = Mapping[str, object]


def receipt(answer: Receipt) -> Json:
    """What every answer stands on."""
    return asdict(answer)


def search(answer: SearchAnswer) -> Json:
    """The places found, best first; `more`, `left`, `context_count` only where some are missing."""
    fields: dict[str, object] = {
        "receipt": receipt(answer.receipt),
        "query": answer.query,
        "mode": answer.mode,
        "results": [hit(result) for result in answer.results],
        "notes": list(answer.notes),
    }
    if answer.contexts:
        fields["contexts"] = [asdict(context) for context in answer.contexts]
    if answer.context_count > len(answer.contexts):
        fields["context_count"] = answer.context_count
    if answer.more:
        fields["more"] = answer.more
    if answer.left:
        fields["left"] = answer.left
    return with_usable_paths(fields)


def hit(result: Hit) -> Json:
    """One place; `stale`, `alike`, `also`, `explain` only where there is something to say."""
    fields: dict[str, object] = {
        "handle": result.handle,
        "path": result.path,
        "start_line": result.start_line,
        "end_line": result.end_line,
        "symbol": result.symbol,
        "kind": result.kind,
        "language": result.language,
        "score": result.score,
        "signature": result.signature,
        "why": result.why,
    }
    if result.doc:
        fields["doc"] = result.doc
    if result.repository:
        fields["repository"] = result.repository
    if result.stale:
        fields["stale"] = True
    if result.alike:
        fields["alike"] = list(result.alike)
    if result.also:
        fields["also"] = list(result.also)
    if result.explain is not None:
        fields["explain"] = dict(result.explain)
    return fields


def expand(answer: ExpandAnswer) -> Json:
    """One result for each handle asked, in order; `contexts`, `notes` only where there are some."""
    results = [excerpt(item) for item in answer.items]
    fields: dict[str, object] = {"receipt": receipt(answer.receipt), "results": results}
    if answer.contexts:
        fields["contexts"] = [asdict(context) for context in answer.contexts]
    if answer.notes:
        fields["notes"] = list(answer.notes)
    return with_usable_paths(fields)


def excerpt(item: Excerpt) -> Json:
    """The text of a handle, or its error and the nearest candidates."""
    if item.error:
        return {
            "handle": item.handle,
            "asked": item.asked,
            "error": item.error,
            "near": [*item.near],
        }
    fields: dict[str, object] = {
        "handle": item.handle,
        "asked": item.asked,
        "path": item.path,
        "start_line": item.start_line,
        "end_line": item.end_line,
        "language": item.language,
        "text": item.text,
    }
    if item.folded:
        fields["folded"] = True
    if item.moved:
        fields["moved"] = item.moved
    if item.sent:
        fields["sent"] = item.sent
    if item.sent_at and item.sent_at != item.start_line:
        fields["sent_at"] = item.sent_at
    if item.truncated:
        # Reading is imported late: a search has no need of it.
        from codelens.render.excerpt_rest import rest_of

        fields["truncated"] = True
        if rest := rest_of(item):
            fields["rest"] = rest
    return fields


def outline(answer: OutlineAnswer) -> Json:
    """Files with their definitions, and sub-folders."""
    fields: dict[str, object] = {
        "receipt": receipt(answer.receipt),
        "target": answer.target,
        "results": [_outline_file(file) for file in answer.files],
        "folders": [asdict(folder) for folder in answer.folders],
        "notes": list(answer.notes),
    }
    return with_usable_paths(fields)


def _outline_file(outline_file: OutlineFile) -> Json:
    fields = asdict(outline_file)
    if not outline_file.stale:
        del fields["stale"]
    if not outline_file.imports:
        del fields["imports"]
    return fields


def source(answer: SourceAnswer) -> Json:
    """A file to be shown: columns count UTF-16 units, as JavaScript does.

    A mark is `[line, start, end, kind]`, a link `[line, start, end, handle, defines]`.
    """
    fields = asdict(answer)
    lines = answer.text.split("\n")

    def columns(part: SourceMark | SourceLink) -> list[int]:
        line = lines[part.line - answer.start_line]
        if line.isascii():
            return [part.line, part.start_column, part.end_column]
        data = line.encode()
        ends = (data[: part.start_column], data[: part.end_column])
        return [part.line, *(len(end.decode().encode("utf-16-le")) // 2 for end in ends)]

    fields["receipt"] = receipt(answer.receipt)
    fields["marks"] = [[*columns(mark), mark.kind] for mark in answer.marks]
    fields["links"] = [[*columns(link), link.handle, link.defines] for link in answer.links]
    fields["notes"] = list(answer.notes)
    return with_usable_paths(fields)


def refs(answer: RefsAnswer) -> Json:
    """Worktrees, branches and tags."""
    return asdict(answer)


def status(answer: StatusAnswer) -> Json:
    """Where one stands."""
    fields = asdict(answer)
    del fields["receipt"]
    fields["languages"] = dict(answer.languages)
    if answer.findings is None:
        del fields["findings"]
    return {"receipt": receipt(answer.receipt), "status": fields}


def results(rows: Sequence[object]) -> Json:
    """Values that stand on no view."""
    return {"results": list(rows)}
