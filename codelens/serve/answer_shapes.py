"""Renders the answer of each tool as text or JSON within a number of tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import accumulate
from typing import cast

from codelens.answers.branch_answers import ConflictsAnswer, DiffAnswer, HistoryAnswer
from codelens.answers.context_answers import ForgetAnswer, LoadAnswer, RecoverAnswer, SaveAnswer
from codelens.answers.graph_answers import ImpactAnswer, MapAnswer, ReferencesAnswer, RelatedAnswer
from codelens.answers.reading_answers import (
    ExploreAnswer,
    JointAnswer,
    SearchAnswer,
    StatusAnswer,
)
from codelens.answers.upkeep_answers import Dropped, PruneAnswer, RepositoryLife
from codelens.render import (
    branch_text,
    context_text,
    explore_text,
    graph_text,
    reading_text,
    search_text,
    text_pieces,
    token_budget,
    upkeep_text,
)
from codelens.render.text_pieces import Form, head_line, one_line, receipt_line, safe, status_rows
from codelens.wording import count_of

Answer = (
    DiffAnswer | HistoryAnswer | ConflictsAnswer | RelatedAnswer | ReferencesAnswer | ImpactAnswer
    | MapAnswer | SaveAnswer | LoadAnswer | RecoverAnswer | SearchAnswer
)  # fmt: skip


def _above(answer: Answer) -> list[str]:
    """The receipt and the notes."""
    return [head_line(answer.receipt), *(f"note: {one_line(note)}" for note in answer.notes)]


def _fitted_blocks(
    answer: Answer, head: Sequence[str], blocks: Sequence[str], more: str, max_tokens: int
) -> str:
    """The receipt, the summary, the notes, and as many blocks as fit."""
    receipt, *notes = _above(answer)
    lines = list(accumulate(block.count("\n") + 1 for block in reversed(blocks)))

    def left_out(left: int) -> str:
        return f"{count_of(lines[left - 1], 'line')} more: {more}" if left else ""

    around = [receipt, *map(safe, head), *notes]
    return token_budget.fitted(around, [safe(block) for block in blocks], left_out, max_tokens).text


def fitted_lists(shaped: Mapping[str, object], shares: Mapping[str, int], max_tokens: int) -> str:
    """One JSON object; each list has as many entries as fit into its share of the tokens.

    Room that a list does not need goes to the others. `more` says how many entries of which lists
    were omitted. The other fields (the receipt, the target) are never cut.
    """
    shortened = dict(shaped)
    text = _dumped(shortened)
    if token_budget.cost_of(text) <= max_tokens:
        return text
    lists = {key: cast("list[object]", shortened[key]) for key in shares if shortened.get(key)}
    lengths = {key: len(rows) for key, rows in lists.items()}
    empty: list[object] = []
    bare: dict[str, object] = {**shortened, **dict.fromkeys(lists, empty), "more": lengths}
    room = max_tokens * token_budget.BYTES_A_TOKEN - token_budget.size_of(_dumped(bare))
    sizes = {
        key: [token_budget.size_of(_dumped(row)) + len(", ") for row in rows]
        for key, rows in lists.items()
    }
    weight = sum(shares[key] for key in lists)
    for key in sorted(lists, key=lambda key: sum(sizes[key]) / shares[key]):
        fitting, own = 0, max(room, 0) * shares[key] // weight
        for size in sizes[key]:
            if size > own:
                break
            own -= size
            room -= size
            fitting += 1
        weight -= shares[key]
        shortened[key] = lists[key][:fitting]
        lengths[key] -= fitting
    shortened["more"] = {key: left for key, left in lengths.items() if left}
    return _dumped(shortened)


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# Answers about branches.

_DIFF_SHARES = {
    "results": 6, "broken": 4, "added_public": 1, "removed_public": 2, "tests": 1, "notes": 1,
}  # fmt: skip
_USES_SENT, _USUAL_TOKENS = 20, 3000
"""How many uses of a definition JSON lists, by number of tokens; `count` counts all."""
_HISTORY_SHARES = {"results": 6, "definitions": 6, "together": 2, "notes": 1}
_BRANCHES = "cl_branches"
_CONFLICTS_SHARES = {"results": 8, "harmless": 2, "left_out": 1, "notes": 1}


def diff(answer: DiffAnswer, form: Form, max_tokens: int, tool: str = "cl_diff") -> str:
    """Broken uses, then differences, file by file."""
    if form == "json":
        most = _USES_SENT * max(max_tokens // _USUAL_TOKENS, 1)
        broken = tuple(replace(use, uses=use.uses[:most]) for use in answer.broken)
        answer = replace(answer, broken=broken)
        return fitted_lists(branch_text.diff_json(answer), _DIFF_SHARES, max_tokens)
    head, blocks = branch_text.diff(answer)
    more = _narrower(tool, "paths", "a path as target")
    return _fitted_blocks(answer, head, blocks, more, max_tokens)


def history(answer: HistoryAnswer, form: Form, max_tokens: int, tool: str = "cl_history") -> str:
    """The changes, newest first."""
    if form == "json":
        return fitted_lists(branch_text.history_json(answer), _HISTORY_SHARES, max_tokens)
    head, blocks = branch_text.history(answer)
    more = _narrower(tool, "since", "a definition as target")
    return _fitted_blocks(answer, head, blocks, more, max_tokens)


def conflicts(
    answer: ConflictsAnswer, form: Form, max_tokens: int, tool: str = "cl_conflicts"
) -> str:
    """Conflicts, grouped by the other side."""
    if form == "json":
        return fitted_lists(branch_text.conflicts_json(answer), _CONFLICTS_SHARES, max_tokens)
    head, blocks = branch_text.conflicts(answer, detailed=form == "detailed")
    more = _narrower(tool, "fewer others", "a branch or worktree as spec")
    return _fitted_blocks(answer, head, blocks, more, max_tokens)


def _narrower(tool: str, own: str, of_branches: str) -> str:
    """Say how to read the rest: `cl_branches` has other arguments than the tool of the question."""
    return (
        f"call {tool} with a higher max_tokens, or with {of_branches if tool == _BRANCHES else own}"
    )


def branches(
    answer: DiffAnswer | HistoryAnswer | ConflictsAnswer, form: Form, max_tokens: int
) -> str:
    """The answer to one of the questions of `cl_branches`."""
    if isinstance(answer, DiffAnswer):
        return diff(answer, form, max_tokens, _BRANCHES)
    if isinstance(answer, HistoryAnswer):
        return history(answer, form, max_tokens, _BRANCHES)
    return conflicts(answer, form, max_tokens, _BRANCHES)


# Saved contexts and the recovery of a session.


def save(answer: SaveAnswer, form: Form) -> str:
    """The saved context."""
    if form == "json":
        return json.dumps(context_text.save_json(answer), ensure_ascii=False)
    return "\n".join([*_above(answer), context_text.saved(answer)])


def load(answer: LoadAnswer, form: Form, max_tokens: int, *, narrowed: bool = False) -> str:
    """The contexts found.

    Args:
        answer: the answer to render.
        form: the form of the text.
        max_tokens: the maximum size.
        narrowed: whether the call filters by anything other than a query.
    """
    if form == "json":
        return token_budget.fitted_json(context_text.load_json(answer), "results", max_tokens)
    head = _above(answer)
    if answer.hidden:
        head.append(context_text.hidden(answer.hidden))
    if answer.former:
        former_text = one_line(context_text.former(answer.former))
        head.append(
            f"{former_text}: ask the user, then run `codelens load --adopt` here to take them over"
        )
    elif not answer.results and not answer.hidden:
        nothing = "no saved note matches; cl_load without arguments lists all"
        head.append(nothing if answer.query or narrowed else "nothing is saved")
    if form == "detailed":
        blocks = [context_text.block(result) for result in answer.results]
    else:
        blocks = context_text.blocks(answer)

    def more(left: int) -> str:
        left += answer.more
        if not left:
            return ""
        how = "a higher max_tokens or limit" if answer.query else "words, category or tags"
        return f"{count_of(left, 'context')} more: call cl_load with {how}"

    return token_budget.fitted(head, blocks, more, max_tokens).text


def forget(answer: ForgetAnswer) -> str:
    """The names of the deleted contexts."""
    notes = [f"note: {one_line(note)}" for note in answer.notes]
    return "\n".join([*context_text.forgotten(answer), *notes])


def recover(answer: RecoverAnswer, form: Form, max_tokens: int) -> str:
    """What a session needs to continue."""
    if form == "json":
        return token_budget.fitted_json(context_text.recover_json(answer), "results", max_tokens)

    def more(left: int) -> str:
        return f"{count_of(left, 'line')} more: a higher max_tokens shows them" if left else ""

    blocks = context_text.recover(answer)
    return token_budget.fitted(_above(answer), blocks, more, max_tokens).text


# Answers about uses.

_RELATED_SHARES = {"results": 6, "places": 1, "may": 1, "notes": 2}
_REFERENCES_SHARES = {"results": 8, "places": 1, "notes": 2}
_IMPACT_SHARES = {"results": 4, "tests": 4, "changed": 2, "may": 1, "notes": 2}
_MAP_SHARES = {
    "results": 12, "entries": 2, "hot": 2, "folders": 1, "languages": 1, "links": 1, "notes": 1,
}  # fmt: skip


def related(answer: RelatedAnswer, form: Form, max_tokens: int) -> str:
    """Related definitions, grouped by relation; or paths."""
    if form == "json":
        return fitted_lists(graph_text.related_json(answer), _RELATED_SHARES, max_tokens)
    head, blocks = graph_text.related(answer, detailed=form == "detailed")
    if not blocks:
        blocks = ["no path found" if answer.goal is not None else "no certain relations"]
    more = "call cl_related with a higher max_tokens, or with kinds, direction or a lower limit"
    return _fitted_blocks(answer, head, blocks, more, max_tokens)


def references(answer: ReferencesAnswer, form: Form, max_tokens: int) -> str:
    """Every line that uses the target."""
    if form == "json":
        return fitted_lists(graph_text.references_json(answer), _REFERENCES_SHARES, max_tokens)
    head, blocks = graph_text.references(answer, 'cursor="{}"')
    more = "call cl_references with a higher max_tokens, or a lower limit and then its cursor"
    return _fitted_blocks(answer, head, blocks, more, max_tokens)


def impact(answer: ImpactAnswer, form: Form, max_tokens: int) -> str:
    """The changes, the tests to run, and the affected definitions."""
    contexts = text_pieces.fitting_notes(answer.contexts, max_tokens)
    answer = replace(answer, contexts=contexts)
    if form == "json":
        return fitted_lists(graph_text.impact_json(answer), _IMPACT_SHARES, max_tokens)
    head, blocks = graph_text.impact(answer)
    head += text_pieces.all_notes_named(contexts)
    more = "call cl_impact with a higher max_tokens, fewer targets or a smaller depth"
    return _fitted_blocks(answer, head, blocks, more, max_tokens)


def map_(answer: MapAnswer, form: Form, max_tokens: int) -> str:
    """The repository at a glance."""
    if form == "json":
        return fitted_lists(graph_text.map_json(answer), _MAP_SHARES, max_tokens)
    head, blocks = graph_text.map_(answer)
    more = "call cl_map with a higher max_tokens, or with a focus"
    return _fitted_blocks(answer, head, blocks, more, max_tokens)


# Answers of search and of the tools that read code; the last line counts the omitted results.


def search(
    answer: SearchAnswer | JointAnswer, form: Form, max_tokens: int, *, brief: bool = False
) -> str:
    """Ranked places, one per line; `brief` omits places that only use names defined in others."""
    if isinstance(answer, JointAnswer):
        return search_text.joint_reply(answer, form, max_tokens)
    answer = replace(answer, contexts=text_pieces.fitting_notes(answer.contexts, max_tokens))
    if brief and form == "concise":
        answer = search_text.briefly(answer)
    if form == "json":
        return token_budget.fitted_json(reading_text.search_json(answer), "results", max_tokens)
    receipt, *notes = _above(answer)
    notes += text_pieces.all_notes_named(answer.contexts, answer.context_count)
    if not answer.results:
        rows = [receipt, "nothing found", *notes]
        return token_budget.fitted(rows, (), lambda _: "", max_tokens).text
    shown = search_text.blocks(answer, detailed=form == "detailed")

    def more(left: int) -> str:
        return search_text.left_out(left + answer.more, answer.unshown, answer.left, typed=False)

    return token_budget.fitted([receipt, *notes], shown, more, max_tokens).text


def explore(answer: ExploreAnswer, form: Form, max_tokens: int) -> str:
    """The code of a task; the engine has already limited the answer to its tokens, if given."""
    if form == "json":
        return explore_text.fitted_json(answer, max_tokens or explore_text.MOST_TOKENS)[0]
    return explore_text.explore(answer)


expand, delivered = reading_text.expand_reply, reading_text.delivered


def explore_delivered(answer: ExploreAnswer, form: Form, max_tokens: int) -> ExploreAnswer:
    """The part of the answer in the text of `explore`."""
    if form == "json":
        return explore_text.fitted_json(answer, max_tokens or explore_text.MOST_TOKENS)[1]
    return answer


outline = reading_text.outline_reply


def current(answer: StatusAnswer, form: Form) -> str:
    """The current scope and the state of its index."""
    if form == "json":
        return json.dumps(reading_text.status_json(answer), ensure_ascii=False)
    rows = [f"{name}: {safe(value)}" for name, value in status_rows(answer)]
    if form == "concise":
        rows = [row for row in rows if not row.startswith("index: ")]
    return "\n".join([receipt_line(answer.receipt), *rows])


# Answers about the index itself.


def index(answer: StatusAnswer | list[RepositoryLife], form: Form, max_tokens: int) -> str:
    """The current scope; or every index with its views."""
    if isinstance(answer, StatusAnswer):
        return current(answer, form)
    if form == "json":
        overview = upkeep_text.overview_json(answer)
        return token_budget.fitted_json(overview, "results", max_tokens)
    return _fitted(upkeep_text.overview_lines(answer), max_tokens)


def prune(answer: PruneAnswer, form: Form, max_tokens: int) -> str:
    """The removed views, or the views that would be removed."""
    if form == "json":
        return json.dumps(upkeep_text.prune_json(answer), ensure_ascii=False)
    text = _fitted(upkeep_text.prune_lines(answer), max_tokens)
    return text.replace("--yes removes them", "dry_run false removes them")


def drop(answer: Dropped, form: Form) -> str:
    """The removed view or index."""
    if form == "json":
        return json.dumps(asdict(answer), ensure_ascii=False)
    return "\n".join(upkeep_text.dropped_lines(answer))


def _fitted(lines: list[str], max_tokens: int) -> str:
    def more(left: int) -> str:
        return f"{count_of(left, 'more line')}: call it with a higher max_tokens" if left else ""

    return token_budget.fitted((), lines, more, max_tokens).text
