"""The text that handles name, for a page and for a reply with a number of tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from codelens.answers.reading_answers import Excerpt, ExpandAnswer
from codelens.render import reading_json, saved_note_lines, token_budget
from codelens.render.excerpt_rest import rest_of
from codelens.render.text_pieces import Form, head_line, lines_of, one_line, safe

_SPARE_TOKENS = 60
"""Kept for the lines that say what was cut and what was left out."""
_NAMES_SHARE = 4
"""Naming the handles that are left may take so much of an answer: a quarter."""


def sent_line(excerpt: Excerpt, *, typed: bool = False) -> str:
    """That an excerpt was sent earlier, and how to have it again; or that it has changed."""
    if excerpt.sent == "changed":
        return "changed since it was sent"
    then = f", then at line {excerpt.sent_at}" if excerpt.sent_at != excerpt.start_line else ""
    again = "--again prints it once more" if typed else "again=true sends it once more"
    lines = lines_of(excerpt.start_line, excerpt.end_line)
    return f"lines {lines} sent earlier, unchanged{then}; {again}"


def page_notes(excerpt: Excerpt) -> list[str]:
    """What a page says below an excerpt: that it was sent before, or where it goes on."""
    notes: list[str] = []
    if excerpt.sent:
        notes.append(sent_line(excerpt, typed=True))
    if excerpt.truncated:
        rest = rest_of(excerpt)
        notes.append(
            f"truncated after line {excerpt.end_line}; continue with {rest}"
            if rest
            else "more definitions: raise --max-lines"
        )
    return notes


def numbered(excerpt: Excerpt, text: str, dim: Callable[[str], str]) -> str:
    """The lines of a text with their numbers; as it is, where its lines are not those of a file.

    Args:
        excerpt: what the text is of.
        text: the text, as it is to be shown.
        dim: puts a number into the background.
    """
    if excerpt.sent == "unchanged" or excerpt.folded:
        return text
    rows = text.split("\n")
    last = rows.pop()
    rows += [last] if last else []
    width = len(str(excerpt.end_line))
    return "".join(
        f"{dim(f'{number:>{width}}')}  {row}\n"
        for number, row in enumerate(rows, excerpt.start_line)
    )


def expand_reply(answer: ExpandAnswer, form: Form, max_tokens: int) -> str:
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
    return "\n".join([*_above(answer), *blocks])


def _above(answer: ExpandAnswer) -> list[str]:
    """What stands above the excerpts."""
    notes = [f"note: {one_line(note)}" for note in answer.notes]
    return [head_line(answer.receipt), *notes, *saved_note_lines.all_named(answer.contexts)]


def _fitting(
    answer: ExpandAnswer, form: Form, max_tokens: int
) -> tuple[list[Excerpt], list[Excerpt]]:
    """The excerpts that fit, and those left out."""
    if form == "json":
        around = json.dumps(reading_json.expand(replace(answer, items=())), ensure_ascii=False)
    else:
        around = "\n".join(_above(answer))
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


def delivered(answer: ExpandAnswer, form: Form, max_tokens: int) -> ExpandAnswer:
    """What of the answer is in the text that `expand` makes of it."""
    answer = replace(answer, contexts=saved_note_lines.fitting(answer.contexts, max_tokens))
    return replace(answer, items=tuple(_fitting(answer, form, max_tokens)[0]))


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
    items: Sequence[Excerpt], tokens: int, form: Form, for_names: int
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


def _around(excerpt: Excerpt, form: Form) -> str:
    """What stands around a text."""
    bare = replace(
        excerpt, text="", error=excerpt.error[:1], truncated=form == "json" and not excerpt.error
    )
    if form == "json":
        return json.dumps(reading_json.excerpt(bare), ensure_ascii=False) + ", "
    return _excerpt(bare) + "\n"


def _cost(text: str, form: Form) -> int:
    return token_budget.cost_of(
        json.dumps(text, ensure_ascii=False) if form == "json" else safe(text)
    )


def _shortened(excerpt: Excerpt, tokens: int, form: Form) -> Excerpt:
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
