"""Which file models are cached, and for how long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codelens.resolve.file_model import NO_FACTS, FileModel
from codelens.resolve.view_files import ModelCache
from codelens.types import Reference

MOST = 20


def model_of(size: int) -> FileModel:
    uses = [Reference("f", "call", line, 0, -1) for line in range(size)]
    return FileModel("python", [], uses, [], scopes=[], bindings=[])


def asked(models: ModelCache, path: bytes, loads: list[bytes], size: int = 3) -> FileModel:
    def load(path: bytes) -> FileModel:
        loads.append(path)
        return model_of(size) if size else NO_FACTS

    return models.young[path] if path in models.young else models.take(path, load)


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=80))
def test_no_more_is_held_than_may_be(questions: list[tuple[int, int]]) -> None:
    models, loads = ModelCache(MOST, MOST), list[bytes]()
    for number, size in questions:
        asked(models, b"%d" % number, loads, size)
        held = [*models.young.values(), *models._old.values()]
        rows = [len(model.references) or 1 for model in held]
        # A model larger than the whole cache stays while it is the last one.
        assert sum(rows) <= MOST + max(rows)


def test_repeated_requests_load_once() -> None:
    models, loads = ModelCache(MOST, MOST), list[bytes]()
    for number in range(50):
        first = asked(models, b"base", loads)
        assert first is asked(models, b"base", loads)
        asked(models, b"%d" % number, loads)
    assert loads.count(b"base") == 1
    assert len(loads) == 51
    assert len(models) < 10


def test_files_without_facts_are_cached_too() -> None:
    models, loads = ModelCache(MOST, MOST), list[bytes]()
    assert asked(models, b"a", loads, 0) is NO_FACTS
    assert asked(models, b"a", loads, 0) is NO_FACTS
    assert loads == [b"a"]


def test_changed_entries_are_forgotten() -> None:
    models, loads = ModelCache(MOST, MOST), list[bytes]()
    for path in (b"a", b"b", b"c", b"d", b"e"):
        asked(models, path, loads)
    models.keep(lambda path: path in {b"b", b"e"})
    for path in (b"b", b"e", b"a"):
        asked(models, path, loads)
    assert loads == [b"a", b"b", b"c", b"d", b"e", b"a"]
    models.clear()
    assert len(models) == 0


def held_rows(models: ModelCache) -> int:
    held = [*models.young.values(), *models._old.values()]
    return sum(len(model.references) for model in held if model)


def test_repeated_misses_raise_the_cache_size_up_to_a_limit() -> None:
    models, loads = ModelCache(MOST, 8 * MOST), list[bytes]()
    for _ in range(30):
        for number in range(12):
            asked(models, b"%d" % number, loads, 5)
    before = len(loads)
    for number in range(12):
        asked(models, b"%d" % number, loads, 5)
    assert len(loads) == before < 100, "all of it fits now"
    for number in range(400):
        asked(models, b"%d" % (number % 100), loads, 5)
        assert held_rows(models) <= 8 * MOST


def test_one_pass_over_all_files_does_not_grow_the_cache() -> None:
    models, loads = ModelCache(MOST, 4 * MOST), list[bytes]()
    for number in range(500):
        asked(models, b"%d" % number, loads, 5)
        assert held_rows(models) <= MOST


def test_between_questions_half_of_the_least_is_held() -> None:
    models, loads = ModelCache(MOST, 4 * MOST), list[bytes]()
    for _ in range(30):
        for number in range(12):
            asked(models, b"%d" % number, loads, 5)
    models.rest()
    assert held_rows(models) <= MOST // 2
    for number in range(100, 200):
        asked(models, b"%d" % number, loads, 5)
        assert held_rows(models) <= MOST
    asked(models, b"last", loads, 5)
    models.rest()
    before = len(loads)
    asked(models, b"last", loads, 5)
    assert len(loads) == before
