"""Answers as text for an agent: line-oriented, within a number of tokens, honest about the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from codelens.engine import as_json
from codelens.engine.answers import (
    Excerpt,
    ExpandAnswer,
    Hit,
    OutlineAnswer,
    OutlineFile,
    SearchAnswer,
    StatusAnswer,
)
from codelens.engine.as_text import (
    count_of,
    folded,
    lines_of,
    one_line,
    receipt_line,
    safe,
    status_rows,
    tokens_of,
)
from codelens.engine.expand import rest_of
from codelens.types import Receipt

Format = Literal["concise", "detailed", "json"]

_SPARE_TOKENS = 60
"""Kept for the line that says what was left out."""


def search(answer: SearchAnswer, form: Format, max_tokens: int) -> str:
    """Ranked places."""
    results = answer.results
    if form == "json":
        return _json(as_json.search(answer), "results", max_tokens)
    notes = [f"note: {one_line(note)}" for note in answer.notes]
    if not results:
        return _joined([_head(answer.receipt), "nothing found", *notes])
    blocks = [_hit(hit, detailed=form == "detailed") for hit in results]

    def more(left: int) -> str:
        if not left:
            return ""
        return f"{left} more: call cl_search with a higher max_tokens, or narrow the query"

    return _fitted([_head(answer.receipt), *notes], blocks, more, max_tokens)


def _hit(hit: Hit, *, detailed: bool) -> str:
    named = f"{hit.path}:{lines_of(hit.start_line, hit.end_line)}"
    alone = hit.kind == "file" or hit.handle.endswith(named)
    place = hit.handle if alone else f"{hit.handle}  {named.rpartition(':')[2]}"
    first = f"{place}  {hit.kind}{'  STALE: changed since it was indexed' if hit.stale else ''}"
    rows = [first]
    if hit.signature:
        rows.append(f"  {one_line(hit.signature)}")
    if detailed:
        rows.append(f"  {hit.language or 'unknown'}; score {hit.score:.3f}; {one_line(hit.why)}")
        if hit.explain:
            shares = ", ".join(f"{name} {share:.3f}" for name, share in hit.explain.items())
            rows.append(f"  {shares}")
    return "\n".join(rows)


def expand(answer: ExpandAnswer, form: Format, max_tokens: int) -> str:
    """The text of each handle; what does not fit is named so that it can be asked for."""
    items, left = _cut(answer.items, max_tokens - _SPARE_TOKENS)
    rest = json.dumps([one.asked for one in left], ensure_ascii=False)
    if form == "json":
        shaped = dict(as_json.expand(replace(answer, items=tuple(items))))
        if left:
            shaped["more"] = [one.asked for one in left]
        return json.dumps(shaped, ensure_ascii=False)
    blocks = [_excerpt(one) for one in items]
    if left:
        blocks.append(f"{len(left)} more: call cl_expand with handles {rest}")
    return _joined([_head(answer.receipt), *blocks])


def _excerpt(one: Excerpt) -> str:
    if one.error:
        return f"ERROR {one_line(one.error)}"
    rows = [f"==> {one.handle}  {one.path}:{lines_of(one.start_line, one.end_line)}"]
    if one.moved:
        rows.append(f"note: {one.moved}")
    rows.append(safe(one.text).removesuffix("\n"))
    if one.truncated:
        rows.append(f"... {_cut_where(one)}")
    return "\n".join(rows)


def _cut_where(one: Excerpt) -> str:
    rest = rest_of(one)
    go_on = f"; go on with {rest}" if rest else ""
    if one.line_cut:
        longer = "a higher max_tokens shows more of it"
        return f"line {one.end_line} is too long and was cut: {longer}{go_on}"
    return f"cut after line {one.end_line}{go_on}"


def _cut(items: Sequence[Excerpt], tokens: int) -> tuple[list[Excerpt], list[Excerpt]]:
    """The excerpts that fit, the last one shortened by whole lines; and those left out."""
    kept: list[Excerpt] = []
    for at, one in enumerate(items):
        cost = tokens_of(one.text or one.error) + 20
        if cost <= tokens:
            tokens -= cost
            kept.append(one)
            continue
        if kept and tokens < _SPARE_TOKENS:
            return kept, list(items[at:])
        kept.append(_shortened(one, max(tokens - 20, 1)))
        return kept, list(items[at + 1 :])
    return kept, []


def _shortened(one: Excerpt, tokens: int) -> Excerpt:
    if one.error:
        return replace(one, near=(), error=one.error[: tokens * 4])
    lines = one.text.splitlines(keepends=True) if "\n" not in one.text else _lines(one.text)
    kept: list[str] = []
    for line in lines:
        tokens -= tokens_of(line)
        if tokens < 0:
            break
        kept.append(line)
    line_cut = not kept
    if line_cut:
        # One line longer than all that may be said: minified, or data.
        first = lines[0].encode()[: max(tokens + tokens_of(lines[0]), 1) * 4]
        kept = [first.decode("utf-8", "ignore") + " ...[line cut]\n"]
    end = one.start_line + len(kept) - 1
    return replace(one, text="".join(kept), end_line=end, truncated=True, line_cut=line_cut)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def outline(answer: OutlineAnswer, form: Format, max_tokens: int) -> str:
    """A file or folder, folded."""
    if form == "json":
        return _json(as_json.outline(answer), "results", max_tokens)
    blocks = [
        f"{folder.path}/  {count_of(folder.files, 'file')}, ~{folder.tokens:,} tokens"
        for folder in answer.folders
    ]
    for file in answer.files:
        blocks += _outline_file(file, detailed=form == "detailed")
    notes = [f"note: {one_line(note)}" for note in answer.notes]

    def more(left: int) -> str:
        if not left:
            return ""
        return (
            f"{count_of(left, 'line')} more: call cl_outline with a higher max_tokens or on a part"
        )

    return _fitted([_head(answer.receipt), *notes], blocks, more, max_tokens)


def _outline_file(file: OutlineFile, *, detailed: bool) -> list[str]:
    rows = [
        f"  {lines_of(item.start_line, item.end_line)}  {'  ' * item.depth}{folded(item)}"
        + (f"  [{item.handle}]" if detailed else "")
        for item in file.items
    ]
    about = (
        f"{file.language or file.outcome}, {count_of(file.lines, 'line')}, ~{file.tokens:,} tokens"
    )
    if rows:
        own = sum(tokens_of(row) for row in rows)
        about += f" (folded ~{own:,})"
    return [f"{file.path}  {about}{'  STALE' if file.stale else ''}", *rows]


def current(answer: StatusAnswer, form: Format) -> str:
    """Where one stands."""
    if form == "json":
        return json.dumps(as_json.status(answer), ensure_ascii=False)
    rows = [f"{name}: {safe(value)}" for name, value in status_rows(answer)]
    if form == "concise":
        rows = [row for row in rows if not row.startswith("index: ")]
    return _joined([receipt_line(answer.receipt), *rows])


def _head(receipt: Receipt) -> str:
    return f"[{receipt_line(receipt)} · {safe(receipt.worktree)} · index {receipt.index_id}]"


def _fitted(
    head: Sequence[str], blocks: Sequence[str], more: Callable[[int], str], max_tokens: int
) -> str:
    """`head`, as many blocks as fit (one at least), and what `more` says of those left out."""
    tokens = max_tokens - tokens_of("\n".join(head)) - _SPARE_TOKENS
    kept: list[str] = []
    for block in blocks:
        tokens -= tokens_of(block) + 1
        if tokens < 0 and kept:
            break
        kept.append(block)
    return _joined([*head, *kept, more(len(blocks) - len(kept))])


def _json(shaped: Mapping[str, object], key: str, max_tokens: int) -> str:
    """One object; entries of `key` that do not fit are counted in `more`."""
    found = dict(shaped)
    entries = found[key]
    assert isinstance(entries, list)
    kept: list[object] = list(entries)  # type: ignore[reportUnknownArgumentType]
    text = json.dumps(found, ensure_ascii=False)
    while len(kept) > 1 and tokens_of(text) > max_tokens:
        kept = kept[: max(1, len(kept) * max_tokens // (tokens_of(text) + 1))]
        found[key] = kept
        found["more"] = len(entries) - len(kept)  # type: ignore[reportUnknownArgumentType]
        text = json.dumps(found, ensure_ascii=False)
    return text


def _joined(blocks: Sequence[str]) -> str:
    return "\n".join(block for block in blocks if block)
