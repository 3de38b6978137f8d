"""Searches the definitions that answer a task: those it names, then the best by score."""

from __future__ import annotations

from typing import NamedTuple

from codelens.rank import answer_lines, search_pipeline
from codelens.rank.scoring import definition_features, definition_ranking
from codelens.rank.scoring.definition_features import Judged
from codelens.rank.scoring.definition_ranking import RankedDefinition
from codelens.rank.search_pipeline import Files
from codelens.rank.search_request import Ranked, Request
from codelens.rank.search_state import Read, Texts
from codelens.store.views.snapshot import Snapshot


class Definitions(NamedTuple):
    """The definitions of one view that answer a task."""

    certain: list[Ranked]
    """Places that the task itself names: a path, a frame of a trace, a message, a quotation."""
    rows: list[RankedDefinition]
    """Definitions, best first."""
    judged: list[Judged]
    """All judged files, including tests and prose; best first."""
    texts: Texts
    notes: list[str]

    def of_kinds(self, kinds: frozenset[str]) -> Definitions:
        """Keep only definitions of some kinds."""
        rows = [row for row in self.rows if row.symbol >= 0 and row.definition.kind in kinds]
        certain = [ranked for ranked in self.certain if ranked.kind == "symbol"]
        return self._replace(rows=rows, certain=certain)


def search(view: Snapshot, request: Request, read: Read) -> Definitions:
    """Return the definitions of `view` that answer a task.

    As in `codelens.rank.search_pipeline.search`, the outcome depends only on the view and the
    request.

    Raises:
        QueryError: the task or a filter is invalid.
    """
    judgement = search_pipeline.files(view, request, read)
    files = judgement.files
    rows = ranked_definitions(files, definition_ranking.FILES) if files is not None else []
    judged = files.judged if files is not None else []
    texts = files.texts if files is not None else Texts(read, {})
    return Definitions(judgement.certain, rows, judged, texts, judgement.notes)


def ranked_definitions(files: Files, most: int) -> list[RankedDefinition]:
    """Rank the definitions of the best `most` files of code, best first."""
    state = files.state
    best = definition_ranking.code_files(files.judged, state.query, most)
    best = definition_features.judged_with_definitions(state.view, best, len(best))
    chosen = {
        scored.evidence.file.path_id: answer_lines.best(scored, files.texts) for scored in best
    }
    return list(
        definition_ranking.ranked(best, state.query, files.terms, files.texts, chosen, task=True)
    )
