"""Files by what they mean alone, whatever words they have: `search --meaning only`."""

from __future__ import annotations

from collections.abc import Sequence

from codelens.extract.tokenizer import WORD, count_terms
from codelens.meaning import word_table
from codelens.meaning.question_likeness import QuestionLikeness, by_vectors
from codelens.meaning.text_vectors import LENGTH, said_vector
from codelens.meaning.word_table import WordTableDamaged
from codelens.rank.results.shown_texts import Texts
from codelens.rank.search_request import Ranked
from codelens.rank.search_state import SearchState
from codelens.store.facts import chunk_vectors
from codelens.store.views.views import FileRow


def search(search_state: SearchState) -> list[Ranked]:
    """The chunk of each file that is most like the question, best first; ties by path."""
    likeness = search_state.request.likeness or _by_table(search_state)
    if likeness is None:
        return []
    files = search_state.filters.keep(
        [file for file in search_state.view.files if file.content in likeness]
    )
    search_state.request.note_found((file.path_id, -1) for file in files)
    scored = sorted((-likeness.best_of(file.content), file.path, file) for file in files)
    shown = [file for _, _, file in scored[: search_state.request.limit]]
    return _places(search_state, shown, likeness)


def _places(
    search_state: SearchState, shown: Sequence[FileRow], likeness: QuestionLikeness
) -> list[Ranked]:
    chunks = search_state.view.chunks({file.content or 0 for file in shown})
    texts = Texts(search_state.read, {})
    ranked: list[Ranked] = []
    for file in shown:
        chunk = chunks[file.content or 0][likeness.best_chunk(file.content)]
        start, end, cosine = chunk.start_line, chunk.end_line, likeness.best_of(file.content)
        line = texts.best_line(file, start, end)
        shares = {"meaning": cosine} if search_state.request.explain else {}
        why = f"meaning, by {likeness.made_by}"
        ranked.append(Ranked(file, start, end, "chunk", -1, cosine, why, line, shares))
    return ranked


def _by_table(search_state: SearchState) -> QuestionLikeness | None:
    try:
        table = word_table.shipped()
    except WordTableDamaged as error:
        search_state.note(str(error))
        return None
    question = said_vector(table, count_terms(WORD.findall(search_state.request.query)))
    if not question:
        search_state.note("the table of words has none of the question")
        return None
    view = search_state.view
    contents = chunk_vectors.vectors_of(view.db, sorted(view.by_content), table.head.version)
    return by_vectors("the table of words", question, contents, LENGTH * LENGTH)
