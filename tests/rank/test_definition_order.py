"""The order of definitions: by where the words meet, by names, code before its tests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ranking_index import Store

from codelens.rank import answer_lines, definition_search, file_definitions, search_pipeline
from codelens.rank.answer_lines import Place
from codelens.rank.file_definitions import FileDefinitions
from codelens.rank.query.query_analysis import Query
from codelens.rank.scoring import definition_ranking
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.scoring.definition_features import Judged
from codelens.rank.search_request import Request
from codelens.rank.search_state import Texts
from codelens.store.views.views import FileRow

_NUMBERS = count()
SHELVES = '''class LampShelf:
    def drop(self):
        """Remove a thing."""
        self.things.pop(0)


class BookShelf:
    def drop(self):
        """Remove a thing, the oldest."""
        self.things.pop(0)
'''
DOOR = '''def locked(door):
    """Whether a locked door can be opened."""
    return door.bolt and door.key is None
'''
TEST_DOOR = '''def test_locked():
    """Whether a locked door can be opened twice."""
    assert locked(Door(bolt=True, key=None))
'''


def order(store: Store, files: dict[str, str], task: str) -> list[tuple[str, int]]:
    """Path and first line of the definitions that answer a task, best first."""
    view = store.view(files, name=f"view {next(_NUMBERS)}")  # an example may be tried twice

    def read(file: FileRow) -> bytes:
        return files[file.path.decode()].encode()

    rows = definition_search.search(view, Request(task), read).rows
    return [(row.judged.evidence.file.path.decode(), row.name_line) for row in rows]


def test_the_members_of_a_type_that_the_task_names_come_before_others(store: Store) -> None:
    rows = order(store, {"shelves.py": SHELVES}, "LampShelf does not remove the oldest thing")
    assert rows.index(("shelves.py", 2)) < rows.index(("shelves.py", 8))


def test_code_comes_before_its_tests_where_the_task_speaks_of_tests(store: Store) -> None:
    files = {"door.py": DOOR, "tests/bolts.py": TEST_DOOR}
    assert order(store, files, "by the spec a locked door can be opened twice")[0] == ("door.py", 1)


def test_a_line_with_all_words_comes_first(store: Store) -> None:
    together = "    lamp.put(wick, flame, smoke)\n"
    scattered = "    lamp.put(wick)\n    lamp.put(flame)\n    lamp.put(smoke)\n"
    glass = "    lamp.oil()\n    lamp.glass()\n"
    for first, second in ((together + glass, scattered), (scattered, together + glass)):
        text = f"def one(lamp):\n{first}\n\ndef two(lamp):\n{second}"
        rows = order(store, {f"lamp{len(first)}.py": text}, "wick flame smoke")
        best = text.split("\n")[rows[0][1]]
        assert best == together.rstrip("\n")


_NAMES = st.sampled_from("lamp drop_lamp oil wick_store other run Shelf __init__ Tests".split())
_LINES = st.sampled_from(["lamp = oil", "x = 1", "return wick(lamp)", "pass", "oil.lamp.wick = 2"])


@st.composite
def _code(draw: st.DrawFn) -> str:
    """Functions, types with members, and lines between them; some contain words of the query."""
    parts: list[str] = []
    for _ in range(draw(st.integers(1, 8))):
        name = draw(_NAMES)
        lines = draw(st.lists(_LINES, min_size=1, max_size=4))
        if draw(st.booleans()):
            body = [f"    def {draw(_NAMES)}(self):", *(f"        {line}" for line in lines)]
            fields = [f"    {draw(_NAMES)}: int = 1" for _ in range(draw(st.integers(0, 2)))]
            parts += [f"class {name}:", *fields, *body, ""]
        else:
            parts += [f"def {name}():", *(f"    {line}" for line in lines), ""]
        parts += draw(st.lists(_LINES.filter(lambda line: "return" not in line), max_size=1))
    return "\n".join(parts) + "\n"


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(_code(), min_size=1, max_size=3),
    st.sampled_from(
        ["drop the lamp", "wick and oil of Shelf", "run tests of the lamp", "Shelf.run it"]
    ),
)
def test_definitions_that_have_nothing_of_a_question_rank_as_if_each_were_looked_at(
    store: Store, texts: list[str], task: str
) -> None:
    files = {f"shelf{at}.py": text for at, text in enumerate(texts)}
    view = store.view(files, name=f"view {next(_NUMBERS)}")  # an example may be tried twice

    def answers() -> tuple[object, object]:
        def read(file: FileRow) -> bytes:
            return files[file.path.decode()].encode()

        rows = definition_search.search(view, Request(task), read).rows
        ranked = [
            (row.judged.evidence.file.path, row.symbol, row.start_line, row.score) for row in rows
        ]
        return ranked, search_pipeline.search(view, Request(task), read)

    before = answers()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("codelens.rank.scoring.definition_ranking._File._is_plain", _never)
        patch.setattr(file_definitions, "places_of_files", _of_files_by_all_rows)
        assert answers() == before


def _never(*_: object) -> bool:
    return False


def _of_files_by_all_rows(
    judged: Sequence[Judged], query: Query, terms: Sequence[Weighed], texts: Texts
) -> dict[int, FileDefinitions]:
    """Like `of_files`, but looks at every definition of every file."""
    best = definition_ranking.code_files(judged[:16], query, 8)
    chosen = {row.evidence.file.path_id: answer_lines.best(row, texts) for row in best}
    found: dict[int, list[Place]] = {}
    tops: dict[int, float] = {}
    wordings: dict[int, float] = {}
    for row in definition_ranking.ranked(best, query, terms, texts, chosen):
        number = row.judged.evidence.file.path_id
        places = found.setdefault(number, [])
        top = tops.setdefault(number, row.score)
        if len(places) > 3 or (places and row.score < 0.5 * top):
            continue
        wordings[number] = max(wordings.get(number, 0.0), row.wording)
        if row.symbol < 0:
            places += [] if places else [chosen[number]]
            continue
        if not places and file_definitions._is_named(row.judged):
            places.append(chosen[number])
        place = answer_lines.of_symbol(row.judged, row.definition)
        if not any(answer_lines.overlap(place, other) for other in places):
            places.append(place)
    return {
        number: FileDefinitions(tuple(places), wordings[number]) for number, places in found.items()
    }
