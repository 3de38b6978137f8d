"""Facts of small sources in each language equal the reviewed files next to them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from extract.rendering import expected_file, fixture_sources, rendered

from codelens.extract.facts import facts_of
from codelens.extract.language_detection import language_of

SOURCES = fixture_sources()


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_facts_of_a_fixture_match_the_recorded_ones(source: Path) -> None:
    expected = json.loads(expected_file(source).read_text(encoding="utf-8"))
    assert rendered(source) == expected


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_fixture_is_detected_as_the_language_of_its_folder(source: Path) -> None:
    head = source.read_bytes()[:4096]
    assert language_of(source.name.encode(), head) == source.parent.name


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_symbols_asked_for_alone_are_those_of_all_facts(source: Path) -> None:
    data, language = source.read_bytes(), source.parent.name
    alone = facts_of(data, language, "symbols")
    assert alone.structure.symbols == facts_of(data, language).structure.symbols
    assert (alone.structure.references, alone.structure.chunks, alone.terms) == ((), (), {})
