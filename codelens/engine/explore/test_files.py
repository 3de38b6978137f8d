"""The files of tests that belong to a task, by name alone."""

from __future__ import annotations

from codelens.answers.explore_answers import NamedFile
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.paths import printed
from codelens.rank.definitions.definition_search import Definitions
from codelens.resolve.walk.test_conventions import to_run

_FILES = 6
_MOST = 12


def tests_of(view: CurrentView, graph: LazyGraph, definitions: Definitions) -> list[NamedFile]:
    """Test files named for the best files, and those whose own text answers; best first."""
    values: dict[bytes, float] = {}
    every = graph.test_files()
    tests = frozenset(every)
    run = to_run(every)
    at = 0
    for scored in definitions.judged:
        path = scored.evidence.file.path
        if path in tests:
            values[path] = values.get(path, 0.0) + 1.0 / (1 + at) * (1.0 if path in run else 0.5)
            at += 1
    best = list(dict.fromkeys(row.judged.evidence.file.path for row in definitions.rows))[:_FILES]
    for number, path in enumerate(best):
        for test in graph.tests_named_for(path)[:2]:
            values[test] = values.get(test, 0.0) + 1.0 / (1 + number)
    ordered = sorted(values, key=lambda path: (-values[path], path))[:_MOST]
    return [NamedFile(printed(path)) for path in ordered]
