"""Renders the answers of searches as text and JSON: one line per result.

    src/auth.py#Session.validate<TAB>4-6 method def validate(self, token) (defines it)

The handle comes first and ends at the tab: it may contain blanks and brackets, but no tab.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from codelens.answers.reading_answers import Hit, JointAnswer, RepositoryAnswer, SearchAnswer
from codelens.rank.answer_lines import DEFINES_IT
from codelens.render import reading_text, text_pieces, token_budget
from codelens.render.reading_text import picked, with_usable_paths
from codelens.render.text_pieces import Form, head_line, lines_of, one_line, receipt_line, safe

LINE_CHARS = 100
"""Maximum length of a signature or best line in the short form."""
_PATHS_SHOWN = 2
_OTHERS_SHOWN = 3
_DOC_WITH_SIGNATURE = 70
"""The short form shows no doc after a longer signature."""


def briefly(answer: SearchAnswer) -> SearchAnswer:
    """Drop results that are not worth their tokens, and count them in `unshown`.

    If the definitions of a name were found, only a few of its uses follow.
    """
    hits = answer.results
    if answer.mode != "symbol" or not hits or hits[0].why != DEFINES_IT:
        return answer
    others = [at for at, hit in enumerate(hits) if hit.why != DEFINES_IT]
    if len(others) <= _OTHERS_SHOWN:
        return answer
    shown = hits[: others[_OTHERS_SHOWN]]
    return replace(answer, results=shown, unshown=len(hits) - len(shown))


def kept_within(answer: SearchAnswer, max_tokens: int) -> SearchAnswer:
    """Drop the results that do not fit into the short text, but keep at least one."""
    answer = replace(answer, contexts=text_pieces.fitting_notes(answer.contexts, max_tokens))
    head = [receipt_line(answer.receipt), *(f"note: {one_line(note)}" for note in answer.notes)]
    head += text_pieces.all_notes_named(answer.contexts, answer.context_count)
    fitted = token_budget.fitted(head, blocks(answer), lambda left: f"{left} more", max_tokens)
    hits = answer.results[: len(fitted.blocks)]
    return replace(answer, results=hits, more=len(answer.results) - len(hits))


def left_out(left: int, unshown: int, beyond: int, *, typed: bool) -> str:
    """Describe the omitted results and the argument that shows them; empty if none.

    Args:
        left: number of results beyond the token limit.
        unshown: number of results that `briefly` leaves out.
        beyond: number of answers beyond the limit.
        typed: name arguments of the command line instead of the tool.
    """
    parts: list[str] = []
    if left:
        how = "raise --max-tokens" if typed else "call cl_search with a higher max_tokens"
        parts.append(f"{left + unshown} more: {how}, or narrow the query")
    elif unshown:
        how = "see --limit" if typed else "call cl_search with format detailed"
        parts.append(f"{unshown} more that do not define it: {how}")
    if beyond:
        how = "raise --limit" if typed else "call cl_search with a higher limit"
        parts.append(f"at least {beyond:,} more beyond the limit: {how}")
    return "; ".join(parts)


def blocks(answer: SearchAnswer, *, detailed: bool = False) -> list[str]:
    """Render one text per result."""
    return [block(hit, detailed=detailed) for hit in answer.results]


def block(hit: Hit, *, detailed: bool = False) -> str:
    """Render a result in a line, with further lines for other places and details."""
    rows = [_line(hit, detailed=detailed)]
    if hit.also:
        rows.append(f"  also {', '.join(one_line(handle) for handle in hit.also)}")
    if detailed:
        rows += [f"  alike {one_line(handle)}" for handle in hit.alike]
        rows.append(f"  {hit.language or 'unknown'}; score {explained(hit)}")
    return "\n".join(rows)


def explained(hit: Hit) -> str:
    """Render the score, and its parts if requested."""
    shares = [f"{name} {share:.3f}" for name, share in (hit.explain or {}).items()]
    return f"{hit.score:.4f} = {' + '.join(shares)}" if shares else f"{hit.score:.4f}"


def _line(hit: Hit, *, detailed: bool) -> str:
    lines = lines_of(hit.start_line, hit.end_line)
    alone = hit.kind == "file" or hit.handle.endswith(f":{lines}")
    shown = one_line(hit.signature)
    parts = [] if alone else [lines]
    # Avoids `class class A`.
    if not re.match(rf"(?:\w+ )?{re.escape(hit.kind)}\b", shown):
        parts.append(hit.kind)
    if hit.stale:
        parts.append("STALE: changed since it was indexed")
    doc = one_line(hit.doc)
    if doc and (detailed or len(shown) <= _DOC_WITH_SIGNATURE):
        shown = f"{shown}  -- {doc}"
    if shown:
        parts.append(shown if detailed else shortened(shown))
    if reason := reason_of(hit):
        parts.append(f"({reason})")
    return f"{one_line(hit.handle)}\t{' '.join(parts)}"


def reason_of(hit: Hit) -> str:
    """Return the reason for a result, and its near-copies."""
    return "; ".join(part for part in (one_line(hit.why), _alike(hit)) if part)


def _alike(hit: Hit) -> str:
    """Render near-copies as `+3 alike in a/b.py, c/d.py`, without the result's own file."""
    if not hit.alike:
        return ""
    files = dict.fromkeys(_file_of(handle) for handle in hit.alike)
    others = [file for file in files if file != _file_of(hit.handle)]
    shown = ", ".join(one_line(other) for other in others[:_PATHS_SHOWN]) or "this file"
    more = ", …" if len(others) > _PATHS_SHOWN else ""
    return f"+{len(hit.alike)} alike in {shown}{more}"


def _file_of(handle: str) -> str:
    """Return a handle without its symbol or lines."""
    path, sign, _ = handle.partition("#")
    if sign:
        return path
    head, colon, lines = handle.rpartition(":")
    return head if colon and lines.replace("-", "").isdigit() else handle


def shortened(line: str) -> str:
    """Truncate a line to `LINE_CHARS` characters."""
    return line if len(line) <= LINE_CHARS else f"{line[: LINE_CHARS - 1].rstrip()}…"


# A search of several repositories as text and JSON: each receipt, then one list.


def joint_head(answer: JointAnswer, *, in_call: bool) -> list[str]:
    """Render the lines before the results: the receipt and notes, or the error, of each repository.

    Args:
        answer: the answer.
        in_call: for an MCP client instead of the command line.
    """
    return [row for part in answer.repositories for row in _rows(part, in_call=in_call)] + [
        f"note: {one_line(note)}" for note in answer.notes
    ]


def _rows(part: RepositoryAnswer, *, in_call: bool) -> list[str]:
    rows = [head_line(part.receipt)] if part.receipt is not None else []
    if part.error:
        why = one_line(part.error_in_call if in_call else part.error)
        return [*rows, f"error: {safe(part.root)}: {why}"]
    return [*rows, *(f"note: {safe(part.root)}: {one_line(note)}" for note in part.notes)]


def joint_reply(answer: JointAnswer, form: Form, max_tokens: int) -> str:
    """Render the answer for an agent, within a token limit."""
    if form == "json":
        return token_budget.fitted_json(joint_json(answer), "results", max_tokens)
    rows = joint_head(answer, in_call=True)
    if not answer.results:
        return token_budget.fitted([*rows, "nothing found"], (), lambda _: "", max_tokens).text
    blocks = [block(hit, detailed=form == "detailed") for hit in answer.results]

    def more(left: int) -> str:
        return left_out(left + answer.more, 0, answer.left, typed=False)

    return token_budget.fitted(rows, blocks, more, max_tokens).text


def joint_kept_within(answer: JointAnswer, max_tokens: int) -> JointAnswer:
    """Drop the results that do not fit into the short text, but keep at least one."""
    blocks = [block(hit) for hit in answer.results]
    fitted = token_budget.fitted(
        joint_head(answer, in_call=True), blocks, lambda left: f"{left} more", max_tokens
    )
    hits = answer.results[: len(fitted.blocks)]
    return replace(answer, results=hits, more=len(answer.results) - len(hits))


def joint_json(answer: JointAnswer) -> Mapping[str, object]:
    """Return the places found, best first, and the result of each repository."""
    fields: dict[str, object] = {
        "query": answer.query,
        "repositories": [_part(part) for part in answer.repositories],
        "results": [reading_text.hit_json(hit) for hit in answer.results],
        **picked(answer, "notes", "more left"),
    }
    return with_usable_paths(fields)


def _part(part: RepositoryAnswer) -> Mapping[str, object]:
    receipt = None if part.receipt is None else reading_text.receipt_json(part.receipt)
    fields: dict[str, object] = {"root": part.root, "receipt": receipt}
    if part.error:
        return {**fields, "error": part.error}
    return {**fields, **picked(part, "mode found notes")}
