"""Renders pieces of answers as short text, for people and agents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from codelens.answers.reading_answers import LinkedNote
from codelens.paths import HIDDEN
from codelens.render.token_budget import BYTES_A_TOKEN, size_of
from codelens.types import Receipt
from codelens.wording import count_of, plural, some_of

if TYPE_CHECKING:
    from codelens.answers.reading_answers import OutlineItem, StatusAnswer

Form = Literal["concise", "detailed", "json"]
"""How much of an answer a reply contains."""

_HEAD_SHOWN = 7
_NAMED = 10
_DOC_SHOWN = 160
_IMPORTS_SHOWN = 30
_PENDING_NAMED, _PENDING_CHARS = 3, 120
# Characters that move a terminal's cursor, change its colours, reverse the text direction or hide.
_UNSAFE = re.compile(rf"[\x00-\x08\x0b-\x1f{HIDDEN}\ud800-\udfff]")


def receipt_line(receipt: Receipt) -> str:
    """Render the receipt of an answer in one line."""
    parts: list[str] = [receipt.status]
    where = receipt.branch or ("detached" if receipt.head else "")
    head = receipt.head[:_HEAD_SHOWN]
    if where or head:
        parts.append(f"{where}@{head}" if head else f"{where} (no commit yet)")
    checked = f"{receipt.checked:,}"
    if receipt.checked < receipt.files:
        checked += f" of {receipt.files:,}"
    parts.append(
        f"{checked} {plural('file', receipt.checked)} checked, {receipt.indexed:,} re-indexed"
    )
    if receipt.pending:
        parts.append(_pending(receipt))
    if receipt.precise:
        parts.append(f"{receipt.precise:,} {plural('file', receipt.precise)} answered precisely")
    parts.append(f"{receipt.elapsed_ms:,.0f} ms")
    if receipt.note:
        parts.append(receipt.note)
    return safe(" · ".join(parts))


def head_line(receipt: Receipt) -> str:
    """Render the first line of a reply: its receipt."""
    return f"[{receipt_line(receipt)} · {safe(receipt.worktree)} · index {receipt.index_id}]"


def _pending(receipt: Receipt) -> str:
    """Render how many files are not indexed, and what that means for the answer."""
    files = f"{count_of(receipt.pending, 'file')} not indexed yet{_pending_names(receipt)}"
    if receipt.unread:
        return f"{files}, {receipt.unread:,} of them not searched: ask again"
    return f"{files}, but this answer searched them all"


def _pending_names(receipt: Receipt) -> str:
    """Render the names of a few pending files; many would fill a short answer."""
    names = ", ".join(receipt.pending_names)
    whole = len(receipt.pending_names) == receipt.pending <= _PENDING_NAMED
    return f" ({names})" if whole and len(names) <= _PENDING_CHARS else ""


def lines_of(start_line: int, end_line: int) -> str:
    """Render `10-42`, or `10` for one line."""
    return str(start_line) if end_line <= start_line else f"{start_line}-{end_line}"


def first_doc_line(doc: str) -> str:
    """Return the first line of a doc, truncated."""
    return doc.strip().partition("\n")[0][:_DOC_SHOWN]


def imports_line(imports: Sequence[str], most: int = _IMPORTS_SHOWN) -> str:
    """Render the imports of a file in one line."""
    return f"imports {some_of([*map(one_line, imports)], most)}"


def folded(item: OutlineItem) -> str:
    """Render a definition of an outline: its signature, its owner if needed, and its doc."""
    shown = one_line(item.signature or f"{item.kind} {item.name}")
    if item.owner and item.owner.rpartition(".")[2] not in shown:
        shown = f"{one_line(item.owner)}: {shown}"
    return f"{shown}  -- {one_line(item.doc)}" if item.doc else shown


def part_of(shown: Sequence[object], count: int) -> str:
    """Render ` (12 of 34)` if not all are shown."""
    return f" ({len(shown):,} of {count:,})" if len(shown) < count else ""


def safe(text: str) -> str:
    """Remove control characters of terminals; tabs and line ends stay."""
    return _UNSAFE.sub(lambda match: f"\\x{ord(match.group()):02x}", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Return `text` in one line, safe to print."""
    return safe(" ".join(text.split()))


def tokens_of(text: str) -> int:
    """Estimate the tokens of a text: one per four bytes."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def _invalid(lines: Sequence[str]) -> str:
    return f"invalid, matches nothing: {'; '.join(lines)}" if lines else ""


def status_rows(answer: StatusAnswer) -> list[tuple[str, str]]:
    """Return a status as names and values in display order, without empty ones."""
    head = answer.head[:_HEAD_SHOWN] or "no commit yet"
    where = f"{answer.branch or 'detached'} @ {head}" if answer.kind != "folder" else ""
    dirty = {True: "uncommitted changes", False: "clean", None: ""}[answer.dirty]
    rows = [
        ("where", f"{answer.root} ({answer.kind})"),
        ("branch", ", ".join(part for part in (where, answer.state, dirty) if part)),
        ("files", f"{answer.files:,}"),
        ("languages", _counts(answer.languages)),
        ("outcomes", _counts(answer.outcomes.items())),
        ("left out", _counts(answer.skipped.items())),
        ("warning", _invalid(answer.invalid_patterns)),
        ("submodules", _some(answer.submodules)),
        ("nested", _some(answer.nested)),
        ("worktrees", _some(answer.worktrees)),
        ("others", "; ".join(answer.others)),
        ("index", f"{answer.index_path} ({answer.index_bytes / 1e6:,.1f} MB, "
                  f"{count_of(answer.views, 'view')})"),
        ("index id", answer.receipt.index_id),
        ("watch", answer.watch),
    ]  # fmt: skip
    for finding in answer.findings or ():
        remedy = f"; {finding.remedy}" if finding.remedy else ""
        rows.append((f"doctor {finding.state}", f"{finding.about}: {finding.message}{remedy}"))
    if answer.findings == ():
        rows.append(("doctor", "no problems"))
    return [(name, value) for name, value in rows if value]


def _some(names: Sequence[str]) -> str:
    total = f" ({len(names):,} in all)" if len(names) > _NAMED else ""
    return some_of(names, _NAMED) + total


def _counts(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts)


# Saved notes on code, one line each: their names and whether that code is unchanged.

LONGEST = 160
"""Maximum length of a note's first line."""
_SHARE = 10


def notes_with_text(tied_note: LinkedNote) -> str:
    """Render a note with the beginning of its text."""
    text = one_line(tied_note.note)
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return f"{named(tied_note)}{text and f': {text}'}"


def named(tied_note: LinkedNote) -> str:
    """Render a note by its name and its targets."""
    changed = ", the code has changed since" if tied_note.status == "changed" else ""
    about = ", ".join(one_line(handle) for handle in tied_note.handles)
    left = tied_note.handle_count - len(tied_note.handles)
    about += f" and {left} more" if left > 0 else ""
    return f"saved note {one_line(tied_note.name)} ({tied_note.category}{changed}) on {about}"


def gone_notes(count: int) -> str:
    """Say how many notes are on code that no longer exists."""
    return f"{count_of(count, 'saved note')} here on code that is gone"


def fitting_notes(notes: Sequence[LinkedNote], max_tokens: int) -> tuple[LinkedNote, ...]:
    """Return the first notes whose lines take at most a tenth of the answer's tokens."""
    room = max_tokens * BYTES_A_TOKEN // _SHARE
    count = 0
    for note in notes:
        room -= size_of(named(note)) + 1
        if room < 0:
            break
        count += 1
    return tuple(notes[:count])


def all_notes_named(notes: Sequence[LinkedNote], count: int = 0, most: int = 3) -> list[str]:
    """Render notes by name in a few lines; `count` is the total."""
    rows = [named(note) for note in notes[:most]]
    rest = [one_line(note.name) for note in notes[most : most + 10]]
    more = max(count, len(notes)) - len(rows) - len(rest)
    if more > 0:
        rest.append(f"{more} more")
    return [*rows, f"more saved notes: {', '.join(rest)}"] if rest else rows
