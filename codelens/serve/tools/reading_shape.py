"""Answers as text for an agent: line-oriented, within a number of tokens, honest about the rest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from codelens.answers.explore_answers import ExploreAnswer
from codelens.answers.reading_answers import (
    Excerpt,
    ExpandAnswer,
    OutlineAnswer,
    OutlineFile,
    SearchAnswer,
    StatusAnswer,
)
from codelens.plurals import count_of
from codelens.render import (
    explore_json,
    explore_text,
    reading_json,
    saved_note_lines,
    search_text,
    token_budget,
)
from codelens.render.excerpt_rest import rest_of
from codelens.render.sent_lines import sent_line
from codelens.render.text_pieces import (
    folded,
    imports_line,
    lines_of,
    one_line,
    receipt_line,
    safe,
    status_rows,
    tokens_of,
)
from codelens.types import Receipt

Format = Literal["concise", "detailed", "json"]

_SPARE_TOKENS = 60
"""Kept for the lines that say what was cut and what was left out."""
_NAMES_SHARE = 4
"""Naming the handles that are left may take so much of an answer: a quarter."""


def search(answer: SearchAnswer, form: Format, max_tokens: int, *, brief: bool = False) -> str:
    """Ranked places, a line each; `brief` leaves out places that only use what others define."""
    answer = replace(answer, contexts=saved_note_lines.fitting(answer.contexts, max_tokens))
    if brief and form == "concise":
        answer = search_text.briefly(answer)
    if form == "json":
        return token_budget.fitted_json(reading_json.search(answer), "results", max_tokens)
    notes = [f"note: {one_line(note)}" for note in answer.notes]
    notes += saved_note_lines.all_named(answer.contexts)
    if not answer.results:
        rows = [head(answer.receipt), "nothing found", *notes]
        return token_budget.fitted(rows, (), lambda _: "", max_tokens).text
    shown = search_text.blocks(answer, detailed=form == "detailed")

    def more(left: int) -> str:
        left += answer.more
        if left:
            left += answer.unshown
            return f"{left} more: call cl_search with a higher max_tokens, or narrow the query"
        if answer.unshown:
            return (
                f"{answer.unshown} more that do not define it: call cl_search with format detailed"
            )
        return ""

    return token_budget.fitted([head(answer.receipt), *notes], shown, more, max_tokens).text


def explore(answer: ExploreAnswer, form: Format, max_tokens: int) -> str:
    """The code of a task; the answer was packed to its tokens."""
    if form == "json":
        return explore_json.fitted(answer, max_tokens)[0]
    return explore_text.explore(answer)


def expand(answer: ExpandAnswer, form: Format, max_tokens: int) -> str:
    """The text of each handle; what does not fit is named so that it can be asked for."""
    answer = replace(answer, contexts=saved_note_lines.fitting(answer.contexts, max_tokens))
    items, left = _fitting(answer, form, max_tokens)
    rest = _named(left, max_tokens // _NAMES_SHARE)
    if form == "json":
        shaped = dict(reading_json.expand(replace(answer, items=tuple(items))))
        if left:
            shaped["more"] = rest
        return json.dumps(shaped, ensure_ascii=False)
    blocks = [_excerpt(item) for item in items]
    if left:
        named = json.dumps(rest, ensure_ascii=False)
        others = " and the others" if len(rest) < len(left) else ""
        blocks.append(f"{len(left)} more: call cl_expand with handles {named}{others}")
    return _joined([*_above(answer), *blocks])


def _above(answer: ExpandAnswer) -> list[str]:
    """What stands above the excerpts."""
    notes = [f"note: {one_line(note)}" for note in answer.notes]
    return [head(answer.receipt), *notes, *saved_note_lines.all_named(answer.contexts)]


def _fitting(
    answer: ExpandAnswer, form: Format, max_tokens: int
) -> tuple[list[Excerpt], list[Excerpt]]:
    """The excerpts that fit, and those left out."""
    if form == "json":
        around = json.dumps(reading_json.expand(replace(answer, items=())), ensure_ascii=False)
    else:
        around = _joined(_above(answer))
    tokens = max_tokens - token_budget.cost_of(around) - _SPARE_TOKENS
    return _cut(answer.items, tokens, form, max_tokens // _NAMES_SHARE)


def _named(left: Sequence[Excerpt], tokens: int) -> list[str]:
    """The handles that are left, as many as may be named."""
    rest: list[str] = []
    for excerpt in left:
        tokens -= _cost_of_name(excerpt)
        if tokens < 0:
            break
        rest.append(excerpt.asked)
    return rest


def _cost_of_name(excerpt: Excerpt) -> int:
    return token_budget.cost_of(json.dumps(excerpt.asked, ensure_ascii=False) + ", ")


def _excerpt(excerpt: Excerpt) -> str:
    if excerpt.error:
        return f"ERROR {one_line(excerpt.error)}"
    rows = [
        f"==> {excerpt.handle}  {excerpt.path}:{lines_of(excerpt.start_line, excerpt.end_line)}"
    ]
    if excerpt.moved:
        rows.append(f"note: {excerpt.moved}")
    rows.append(safe(excerpt.text).removesuffix("\n"))
    if excerpt.sent:
        rows.append(sent_line(excerpt))
    if excerpt.truncated:
        rows.append(f"... {_cut_where(excerpt)}")
    return "\n".join(rows)


def delivered(answer: ExpandAnswer, form: Format, max_tokens: int) -> ExpandAnswer:
    """What of the answer is in the text that `expand` makes of it."""
    answer = replace(answer, contexts=saved_note_lines.fitting(answer.contexts, max_tokens))
    return replace(answer, items=tuple(_fitting(answer, form, max_tokens)[0]))


def explore_delivered(answer: ExploreAnswer, form: Format, max_tokens: int) -> ExploreAnswer:
    """What of the answer is in the text that `explore` makes of it."""
    return explore_json.fitted(answer, max_tokens)[1] if form == "json" else answer


def _cut_where(excerpt: Excerpt) -> str:
    if excerpt.folded:
        return "more definitions: a higher max_tokens shows them"
    rest = rest_of(excerpt)
    go_on = f"; continue with {rest}" if rest else ""
    if excerpt.line_cut:
        longer = "a higher max_tokens shows more of it"
        return f"line {excerpt.end_line} is too long and was truncated: {longer}{go_on}"
    return f"truncated after line {excerpt.end_line}{go_on}"


def _cut(
    items: Sequence[Excerpt], tokens: int, form: Format, for_names: int
) -> tuple[list[Excerpt], list[Excerpt]]:
    """The excerpts that fit, the last one shortened by whole lines; and those left out.

    What is left out is named in the answer, so its handles count too.
    """
    fitting: list[Excerpt] = []
    for at, excerpt in enumerate(items):
        rest = min(sum(map(_cost_of_name, items[at + 1 :])), for_names)
        around = token_budget.cost_of(_around(excerpt, form))
        cost = around + _cost(excerpt.text or excerpt.error, form)
        if cost + rest <= tokens:
            tokens -= cost
            fitting.append(excerpt)
            continue
        if fitting and tokens - around - rest < _SPARE_TOKENS:
            return fitting, list(items[at:])
        fitting.append(_shortened(excerpt, max(tokens - around - rest, 1), form))
        return fitting, list(items[at + 1 :])
    return fitting, []


def _around(excerpt: Excerpt, form: Format) -> str:
    """What stands around a text."""
    bare = replace(
        excerpt, text="", error=excerpt.error[:1], truncated=form == "json" and not excerpt.error
    )
    if form == "json":
        return json.dumps(reading_json.excerpt(bare), ensure_ascii=False) + ", "
    return _excerpt(bare) + "\n"


def _cost(text: str, form: Format) -> int:
    return token_budget.cost_of(
        json.dumps(text, ensure_ascii=False) if form == "json" else safe(text)
    )


def _shortened(excerpt: Excerpt, tokens: int, form: Format) -> Excerpt:
    if excerpt.error:
        return replace(
            excerpt,
            near=(),
            error=token_budget.cut(excerpt.error, tokens * token_budget.BYTES_A_TOKEN),
        )
    lines = (
        excerpt.text.splitlines(keepends=True) if "\n" not in excerpt.text else _lines(excerpt.text)
    )
    kept_lines: list[str] = []
    for line in lines:
        tokens -= _cost(line, form)
        if tokens < 0:
            break
        kept_lines.append(line)
    line_cut = not kept_lines
    if line_cut:
        # One line longer than all that may be said: minified, or data.
        left = max(tokens + _cost(lines[0], form), 1)
        line = lines[0] if form == "json" else safe(lines[0])
        first = line.encode()[: left * token_budget.BYTES_A_TOKEN]
        kept_lines = [first.decode("utf-8", "ignore") + " ...[line cut]\n"]
    end = excerpt.start_line + len(kept_lines) - 1
    if excerpt.folded:
        end = excerpt.end_line
    return replace(
        excerpt, text="".join(kept_lines), end_line=end, truncated=True, line_cut=line_cut
    )


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def outline(answer: OutlineAnswer, form: Format, max_tokens: int) -> str:
    """A file or folder, folded."""
    if form == "json":
        return token_budget.fitted_json(reading_json.outline(answer), "results", max_tokens)
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
            f"{count_of(left, 'line')} more: call cl_outline with a higher max_tokens or "
            "for a part of it"
        )

    return token_budget.fitted([head(answer.receipt), *notes], blocks, more, max_tokens).text


def _outline_file(file: OutlineFile, *, detailed: bool) -> list[str]:
    rows = [
        f"  {lines_of(item.start_line, item.end_line)}  {'  ' * item.depth}{folded(item)}"
        + (f"  [{item.handle}]" if detailed else "")
        for item in file.items
    ]
    if file.imports:
        rows.insert(0, f"  {imports_line(file.imports)}")
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
        return json.dumps(reading_json.status(answer), ensure_ascii=False)
    rows = [f"{name}: {safe(value)}" for name, value in status_rows(answer)]
    if form == "concise":
        rows = [row for row in rows if not row.startswith("index: ")]
    return _joined([receipt_line(answer.receipt), *rows])


def head(receipt: Receipt) -> str:
    """What an answer stands on: its first line."""
    return f"[{receipt_line(receipt)} · {safe(receipt.worktree)} · index {receipt.index_id}]"


def _joined(blocks: Sequence[str]) -> str:
    return "\n".join(block for block in blocks if block)
