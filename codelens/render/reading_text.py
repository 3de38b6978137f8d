"""Renders excerpts, outlines and other read code as text and JSON, within a token limit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import cast

from codelens.answers.reading_answers import (
    Excerpt,
    ExpandAnswer,
    Hit,
    OutlineAnswer,
    OutlineFile,
    SearchAnswer,
    SnippetsAnswer,
    SourceAnswer,
    SourceLink,
    SourceMark,
    StatusAnswer,
)
from codelens.handles.handle_grammar import lines_handle, parse_handle
from codelens.paths import from_printed
from codelens.render import text_pieces, token_budget
from codelens.render.text_pieces import (
    Form,
    folded,
    head_line,
    imports_line,
    lines_of,
    one_line,
    safe,
    tokens_of,
)
from codelens.types import Receipt
from codelens.wording import count_of


def rest_of(item: Excerpt) -> str:
    """Return the handle of the lines cut off after the last one shown; empty if none.

    Args:
        item: an excerpt without an error.
    """
    if item.folded or item.last_line <= item.end_line:
        return ""
    handle = parse_handle(item.handle)
    return lines_handle(handle.path or b"", item.end_line + 1, item.last_line, handle.ref)


# The text of handles, for a page and for a reply with a token limit.

_SPARE_TOKENS = 60
"""Reserve for the lines about truncated and omitted text."""
_NAMES_SHARE = 4
"""Divisor: naming the omitted handles may take a quarter of an answer."""


def sent_line(excerpt: Excerpt, *, typed: bool = False) -> str:
    """Say that an excerpt was sent earlier, and how to get it again; or that it has changed."""
    if excerpt.sent == "changed":
        return "changed since it was sent"
    then = f", then at line {excerpt.sent_at}" if excerpt.sent_at != excerpt.start_line else ""
    again = "--again prints it once more" if typed else "again=true sends it once more"
    lines = lines_of(excerpt.start_line, excerpt.end_line)
    return f"lines {lines} sent earlier, unchanged{then}; {again}"


def page_notes(excerpt: Excerpt) -> list[str]:
    """Return the notes below an excerpt: that it was sent before, or where it continues."""
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
    """Number the lines of a text; unchanged if they are not lines of a file.

    Args:
        excerpt: the excerpt of the text.
        text: the text to show.
        dim: formats a number in a dim colour.
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
    """Render the text of each handle; name the handles that do not fit."""
    answer = replace(answer, contexts=text_pieces.fitting_notes(answer.contexts, max_tokens))
    items, left = _fitting(answer, form, max_tokens)
    rest = _handles_to_name(left, max_tokens // _NAMES_SHARE)
    if form == "json":
        shaped = dict(expand_json(replace(answer, items=tuple(items))))
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
    """Return the lines above the excerpts."""
    notes = [f"note: {one_line(note)}" for note in answer.notes]
    return [head_line(answer.receipt), *notes, *text_pieces.all_notes_named(answer.contexts)]


def _fitting(
    answer: ExpandAnswer, form: Form, max_tokens: int
) -> tuple[list[Excerpt], list[Excerpt]]:
    """Split excerpts into those that fit and the others."""
    if form == "json":
        around = json.dumps(expand_json(replace(answer, items=())), ensure_ascii=False)
    else:
        around = "\n".join(_above(answer))
    tokens = max_tokens - token_budget.cost_of(around) - _SPARE_TOKENS
    return _cut(answer.items, tokens, form, max_tokens // _NAMES_SHARE)


def _handles_to_name(left: Sequence[Excerpt], tokens: int) -> list[str]:
    """Return as many of the omitted handles as may be named."""
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
    """Return the part of the answer that the text of `expand` contains."""
    answer = replace(answer, contexts=text_pieces.fitting_notes(answer.contexts, max_tokens))
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
    """Return the excerpts that fit, the last one truncated to whole lines; and the others.

    The answer names omitted handles, so they count too.
    """
    fitting: list[Excerpt] = []
    for at, excerpt in enumerate(items):
        rest = min(sum(map(_cost_of_name, items[at + 1 :])), for_names)
        around = token_budget.cost_of(_frame(excerpt, form))
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


def _frame(excerpt: Excerpt, form: Form) -> str:
    """Return the text around an excerpt."""
    bare = replace(
        excerpt, text="", error=excerpt.error[:1], truncated=form == "json" and not excerpt.error
    )
    if form == "json":
        return json.dumps(excerpt_json(bare), ensure_ascii=False) + ", "
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
    shown_lines: list[str] = []
    for line in lines:
        tokens -= _cost(line, form)
        if tokens < 0:
            break
        shown_lines.append(line)
    line_cut = not shown_lines
    if line_cut:
        # A single line exceeds the limit: minified code or data.
        left = max(tokens + _cost(lines[0], form), 1)
        line = lines[0] if form == "json" else safe(lines[0])
        first = line.encode()[: left * token_budget.BYTES_A_TOKEN]
        shown_lines = [first.decode("utf-8", "ignore") + " ...[line cut]\n"]
    end = excerpt.start_line + len(shown_lines) - 1
    if excerpt.folded:
        end = excerpt.end_line
    return replace(
        excerpt, text="".join(shown_lines), end_line=end, truncated=True, line_cut=line_cut
    )


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


# The definitions of files and folders, for a page and for a reply with a token limit.


def outline_lines(answer: OutlineAnswer) -> list[str]:
    """Render the whole outline, with definitions in columns."""
    return [*_folder_lines(answer), *(row for file in answer.files for row in _page_file(file))]


def outline_reply(answer: OutlineAnswer, form: Form, max_tokens: int) -> str:
    """Render as much of the outline as fits; `detailed` adds handles."""
    if form == "json":
        return token_budget.fitted_json(outline_json(answer), "results", max_tokens)
    rows = _folder_lines(answer)
    for file in answer.files:
        rows += _reply_file(file, detailed=form == "detailed")
    notes = [f"note: {one_line(note)}" for note in answer.notes]

    def more(left: int) -> str:
        if not left:
            return ""
        return (
            f"{count_of(left, 'line')} more: call cl_outline with a higher max_tokens or "
            "for a part of it"
        )

    return token_budget.fitted([head_line(answer.receipt), *notes], rows, more, max_tokens).text


def _folder_lines(answer: OutlineAnswer) -> list[str]:
    return [
        f"{folder.path}/  {count_of(folder.files, 'file')}, ~{folder.tokens:,} tokens"
        for folder in answer.folders
    ]


def _rows(file: OutlineFile) -> list[tuple[str, str]]:
    """Return lines and text of each definition."""
    return [
        (lines_of(item.start_line, item.end_line), f"{'  ' * item.depth}{folded(item)}")
        for item in file.items
    ]


def _size(file: OutlineFile) -> list[str]:
    return [
        file.language or file.outcome,
        count_of(file.lines, "line"),
        f"~{file.tokens:,} tokens",
    ]


def _import_rows(file: OutlineFile) -> list[str]:
    return [f"  {imports_line(file.imports)}"] if file.imports else []


def _folded_tokens(rows: Iterable[str]) -> str:
    return f"folded ~{sum(tokens_of(row) for row in rows):,}"


def _page_file(file: OutlineFile) -> list[str]:
    rows, about = _rows(file), _size(file)
    if rows:
        about.append(_folded_tokens(["".join(f"{lines}  {text}\n" for lines, text in rows)]))
    if file.stale:
        about.append("stale")
    width = max((len(lines) for lines, _ in rows), default=0)
    return [
        f"{file.path}  {', '.join(about)}",
        *_import_rows(file),
        *(f"  {lines:>{width}}  {text}" for lines, text in rows),
    ]


def _reply_file(file: OutlineFile, *, detailed: bool) -> list[str]:
    handles = [f"  [{item.handle}]" if detailed else "" for item in file.items]
    rows = _import_rows(file) + [
        f"  {lines}  {text}{handle}"
        for (lines, text), handle in zip(_rows(file), handles, strict=True)
    ]
    about = ", ".join(_size(file))
    if rows:
        about += f" ({_folded_tokens(rows)})"
    return [f"{file.path}  {about}{'  STALE' if file.stale else ''}", *rows]


# Paths in JSON in a form that programs can open, not escaped as in a handle.

_OTHERS = frozenset({"receipt"})
"""Keys with other kinds of paths."""


def usable(printed: str) -> str:
    """Return the path on the disk for a printed path; JSON cannot represent invalid UTF-8."""
    if "%" not in printed:
        return printed
    try:
        return from_printed(printed).decode("utf-8")
    except UnicodeDecodeError:
        return printed


def with_usable_paths(fields: Mapping[str, object]) -> dict[str, object]:
    """Convert each `path` in a JSON answer to the path on the disk."""
    return {
        key: usable(value)
        if key == "path" and isinstance(value, str)
        else value
        if key in _OTHERS
        else _inside(value)
        for key, value in fields.items()
    }


def _inside(value: object) -> object:
    if isinstance(value, Mapping):
        return with_usable_paths(cast("Mapping[str, object]", value))
    if isinstance(value, list | tuple):
        return [_inside(entry) for entry in cast("Sequence[object]", value)]
    return value


# Answers as JSON values: one stable form for the command line and the server.
#
# docs/cli.md documents them; keys may be added but never change their meaning.

Json = Mapping[str, object]


def picked(part: object, names: str, optional: str = "") -> dict[str, object]:
    """Return the named fields of a part of an answer; the optional ones only if not empty.

    Args:
        part: a part whose named fields are no parts themselves.
        names: names of fields, separated by spaces; they become the keys, in this order.
        optional: further names.
    """
    values = {name: getattr(part, name) for name in (*names.split(), *optional.split())}
    return {
        name: list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value or name not in optional.split()
    }


def receipt_json(answer: Receipt) -> Json:
    """Return the receipt of an answer; `precise` only if not zero."""
    fields = asdict(answer)
    if not answer.precise:
        del fields["precise"]
    return fields


def search_json(answer: SearchAnswer) -> Json:
    """Return the places found, best first; `more`, `left`, `context_count` only if not zero."""
    fields: dict[str, object] = {
        "receipt": receipt_json(answer.receipt),
        **picked(answer, "query mode"),
        "results": [hit_json(result) for result in answer.results],
        "notes": list(answer.notes),
    }
    if answer.contexts:
        fields["contexts"] = [asdict(context) for context in answer.contexts]
    if answer.context_count > len(answer.contexts):
        fields["context_count"] = answer.context_count
    return with_usable_paths(fields | picked(answer, "", "more left"))


def hit_json(result: Hit) -> Json:
    """Return one place; `stale`, `alike`, `also`, `explain` only if not empty."""
    fields = picked(
        result, "handle path start_line end_line symbol kind language score signature why",
        "doc repository stale alike also",
    )  # fmt: skip
    return fields if result.explain is None else {**fields, "explain": dict(result.explain)}


def expand_json(answer: ExpandAnswer) -> Json:
    """Return one result per handle, in order; `contexts`, `notes` only if not empty."""
    results = [excerpt_json(item) for item in answer.items]
    fields: dict[str, object] = {"receipt": receipt_json(answer.receipt), "results": results}
    if answer.contexts:
        fields["contexts"] = [asdict(context) for context in answer.contexts]
    return with_usable_paths(fields | picked(answer, "", "notes"))


def excerpt_json(item: Excerpt) -> Json:
    """Return the text of a handle, or its error and the nearest candidates."""
    if item.error:
        return picked(item, "handle asked error near")
    names = "handle asked path start_line end_line language text"
    fields = picked(item, names, "folded moved sent")
    if item.sent_at and item.sent_at != item.start_line:
        fields["sent_at"] = item.sent_at
    if item.truncated:
        fields["truncated"] = True
        if rest := rest_of(item):
            fields["rest"] = rest
    return fields


def outline_json(answer: OutlineAnswer) -> Json:
    """Return files with their definitions, and subfolders."""
    fields: dict[str, object] = {
        "receipt": receipt_json(answer.receipt),
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


def source_json(answer: SourceAnswer) -> Json:
    """Return a file to show; columns count UTF-16 units, as in JavaScript.

    A mark is `[line, start, end, kind]`, a link `[line, start, end, handle, defines]`.
    """
    fields = asdict(answer)
    columns = _columns(answer.text, answer.start_line)
    fields["receipt"] = receipt_json(answer.receipt)
    fields["marks"] = [[*columns(mark), mark.kind] for mark in answer.marks]
    fields["links"] = [[*columns(link), link.handle, link.defines] for link in answer.links]
    fields["notes"] = list(answer.notes)
    return with_usable_paths(fields)


def _columns(text: str, start_line: int) -> Callable[[SourceMark | SourceLink], list[int]]:
    lines = text.split("\n")

    def columns(part: SourceMark | SourceLink) -> list[int]:
        line = lines[part.line - start_line]
        if line.isascii():
            return [part.line, part.start_column, part.end_column]
        data = line.encode()
        ends = (data[: part.start_column], data[: part.end_column])
        return [part.line, *(len(end.decode().encode("utf-16-le")) // 2 for end in ends)]

    return columns


def snippets_json(answer: SnippetsAnswer) -> Json:
    """Return the first lines of places; marks are as in a source."""
    results = [
        {
            **picked(snippet, "handle path start_line text"),
            "marks": [
                [*_columns(snippet.text, snippet.start_line)(mark), mark.kind]
                for mark in snippet.marks
            ],
        }
        for snippet in answer.snippets
    ]
    return {"receipt": receipt_json(answer.receipt), "results": results}


def status_json(answer: StatusAnswer) -> Json:
    """Return the status."""
    fields = asdict(answer)
    del fields["receipt"]
    fields["languages"] = dict(answer.languages)
    if answer.findings is None:
        del fields["findings"]
    return {"receipt": receipt_json(answer.receipt), "status": fields}


def results_json(rows: Sequence[object]) -> Json:
    """Return values that depend on no view."""
    return {"results": list(rows)}
