"""What a branch changes, as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codelens.answers.branch_answers import DefinitionLine, DiffAnswer, FileDiff
from codelens.render.text_pieces import count_of, one_line

_USES_SHOWN = 5


def diff(answer: DiffAnswer) -> list[str]:
    """Lines of a summary: what breaks, the interface, then the files."""
    told = ", ".join(f"{count} {how}" for how, count in answer.totals)
    lines = [
        f"### {count_of(len(answer.files), 'file')} changed, {answer.old} → {answer.new}",
        "",
        told or "No definition differs.",
        "",
    ]
    if answer.broken:
        lines += ["#### Uses that were not changed with it", ""]
        for one in answer.broken:
            at_least = "at least " if answer.at_least else ""
            uses = ", ".join(_code(use) for use in one.uses[:_USES_SHOWN])
            now = f", now {_code(one.now)}" if one.now else ""
            lines.append(
                f"- {_code(one.handle)} {one.how}{now}: {at_least}{count_of(one.count, 'use')} "
                f"({uses})"
            )
        lines.append("")
    lines += _handles("#### Public surface removed or changed", answer.removed_public)
    lines += _handles("#### New public surface", answer.added_public)
    lines += _handles("#### Tests to run", answer.tests)
    lines += ["#### Changes", ""]
    for file in answer.files:
        lines += _file(file)
    return lines


def _handles(title: str, names: Sequence[str]) -> list[str]:
    return [title, "", *(f"- {_code(name)}" for name in names), ""] if names else []


def _file(file: FileDiff) -> Iterator[str]:
    was = f" (was {_code(file.old_path)})" if file.old_path else ""
    yield f"- {_code(file.path)}{was}: {file.folded or file.how}"
    if file.folded:
        return
    for one in file.definitions:
        yield f"  - {_definition(one)}"
    outside = [part.how for part in file.outside]
    if outside:
        yield f"  - outside of definitions: {', '.join(outside)}"


def _definition(one: DefinitionLine) -> str:
    text = f"{_code(one.symbol)}: {' and '.join(one.how)}"
    if one.old_handle and {"moved", "renamed"} & set(one.how):
        text += f", was {_code(one.old_handle)}"
    elif "signature" in one.how:
        text += f", {_code(one_line(one.old_signature))} → {_code(one_line(one.signature))}"
    return text


def _code(text: str) -> str:
    mark = "``" if "`" in text else "`"
    return f"{mark}{one_line(text)}{mark}"
