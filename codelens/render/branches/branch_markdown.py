"""What a branch changes, as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codelens.answers.branch_answers import DefinitionLine, DiffAnswer, FileDiff
from codelens.plurals import count_of
from codelens.render.branches.branch_text import beside_lines, folded
from codelens.render.text_pieces import one_line

_USES_SHOWN = 5


def diff(answer: DiffAnswer) -> list[str]:
    """Lines of a summary: what breaks, the interface, then the files."""
    totals = ", ".join(f"{count} {how}" for how, count in answer.totals)
    lines = [
        f"### {count_of(len(answer.files), 'file')} changed, {answer.old} → {answer.new}",
        "",
        *([f"{count_of(answer.left_out, 'other file')} not shown", ""] if answer.left_out else []),
        totals or "No definition differs.",
        "",
    ]
    if answer.broken:
        lines += ["#### Uses that were not changed with it", ""]
        for broken_use in answer.broken:
            at_least = "at least " if answer.at_least else ""
            left = broken_use.count - _USES_SHOWN
            uses = ", ".join(_code(use) for use in broken_use.uses[:_USES_SHOWN])
            uses += f" and {left} more" if left > 0 else ""
            now = f", now {_code(broken_use.now)}" if broken_use.now else ""
            lines.append(
                f"- {_code(broken_use.handle)} {broken_use.how}{now}: "
                f"{at_least}{count_of(broken_use.count, 'use')} "
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
    old_path_text = f" (was {_code(file.old_path)})" if file.old_path else ""
    beside = "".join(f", {text}" for text in beside_lines(file))
    yield f"- {_code(file.path)}{old_path_text}: {folded(file) or file.how}{beside}"
    if file.folded:
        return
    for definition in file.definitions:
        yield f"  - {_definition(definition)}"
    outside = [part.how for part in file.outside]
    if outside:
        yield f"  - outside of definitions: {', '.join(outside)}"


def _definition(definition: DefinitionLine) -> str:
    text = f"{_code(definition.symbol)}: {' and '.join(definition.how)}"
    if definition.old_handle and {"moved", "renamed"} & set(definition.how):
        text += f", was {_code(definition.old_handle)}"
    elif "signature" in definition.how:
        text += (
            f", {_code(one_line(definition.old_signature))} → "
            f"{_code(one_line(definition.signature))}"
        )
    return text


def _code(text: str) -> str:
    mark = "``" if "`" in text else "`"
    return f"{mark}{one_line(text)}{mark}"
