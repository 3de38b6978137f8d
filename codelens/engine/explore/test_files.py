"""The files of tests that belong to a task, by name alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from codelens.answers.explore_answers import NamedFile
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.extract.tokenizer import terms_of_word
from codelens.paths import printed
from codelens.rank.definitions.definition_search import Definitions
from codelens.resolve.walk.test_conventions import to_run
from codelens.store.facts import postings
from codelens.store.views.snapshot import Snapshot

_FILES, _TESTS_A_FILE = 12, 3
"""The best files, and for each the tests whose paths say that they test it."""
_DEFINITIONS, _SHORTEST_NAME = 8, 4
"""The best definitions, and letters of a name that tells which is meant."""
_FALL = 3.0
"""The first of an order counts 1, the one in its place 1 / (1 + place / 3)."""
_SUPPORT = 0.5
"""What a file of tests counts that holds no tests to run, such as a fixture."""


def tests_of(view: CurrentView, graph: LazyGraph, definitions: Definitions) -> list[NamedFile]:
    """Test files that belong to what answers a task, best first.

    Those whose text answers, those whose paths are named for the best files, and those that name
    one of the best definitions, which counts less the more of them do. The sums were compared on
    the commits of docs/explore.md.
    """
    values: dict[bytes, float] = {}
    every = graph.test_files()
    tests = frozenset(every)
    run = to_run(every)
    answering = [
        judged.evidence.file.path
        for judged in definitions.judged
        if judged.evidence.file.path in tests
    ]
    for place, path in enumerate(answering):
        _add(values, [path], _falling(place) * (1.0 if path in run else _SUPPORT))
    best = dict.fromkeys(row.judged.evidence.file.path for row in definitions.rows)
    for place, path in zip(range(_FILES), best, strict=False):
        _add(values, graph.tests_named_for(path)[:_TESTS_A_FILE], _falling(place))
    for place, naming in enumerate(_naming(view.snapshot, definitions, tests)):
        if naming:
            _add(values, naming, _falling(place) / len(naming) ** 0.5)
    ordered = sorted(values, key=lambda path: (-values[path], path))
    return [NamedFile(printed(path)) for path in ordered]


def _falling(place: int) -> float:
    return _FALL / (_FALL + place)


def _add(values: dict[bytes, float], paths: Iterable[bytes], value: float) -> None:
    for path in paths:
        values[path] = values.get(path, 0.0) + value


def _naming(
    snapshot: Snapshot, definitions: Definitions, tests: frozenset[bytes]
) -> Iterator[list[bytes]]:
    """For each of the best definitions with a telling name the tests whose text has the name."""
    names = dict.fromkeys(
        row.definition.name
        for row in definitions.rows
        if row.symbol >= 0 and len(row.definition.name) >= _SHORTEST_NAME
    )
    words = [terms_of_word(name) for name in names if name.isidentifier()]
    # The last term of a word is the whole of it.
    terms = list(dict.fromkeys(parts[-1] for parts in words if parts))[:_DEFINITIONS]
    holding = postings.contents_with(snapshot.db, terms)
    for term in terms:
        files = (file for content in holding[term] for file in snapshot.by_content.get(content, ()))
        yield [file.path for file in files if file.path in tests]
