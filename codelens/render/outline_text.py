"""The definitions of files and folders, for a page and for a reply with a number of tokens."""

from __future__ import annotations

from collections.abc import Iterable

from codelens.answers.reading_answers import OutlineAnswer, OutlineFile
from codelens.plurals import count_of
from codelens.render import reading_json, token_budget
from codelens.render.text_pieces import (
    Form,
    folded,
    head_line,
    imports_line,
    lines_of,
    one_line,
    tokens_of,
)


def page_lines(answer: OutlineAnswer) -> list[str]:
    """All of it, the definitions of a file in columns."""
    return [*_folder_lines(answer), *(row for file in answer.files for row in _page_file(file))]


def outline_reply(answer: OutlineAnswer, form: Form, max_tokens: int) -> str:
    """As much of it as fits into a number of tokens; `detailed` adds handles."""
    if form == "json":
        return token_budget.fitted_json(reading_json.outline(answer), "results", max_tokens)
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
    """Lines and text of each definition."""
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
