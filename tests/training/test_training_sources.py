"""The training sources of the table of words: named, permissively licensed, none of the judges."""

from __future__ import annotations

from pathlib import Path

import pytest

from training import archives, judges, licences
from training.corpus import SourceText
from training.pairs import KINDS, pairs_of

SOURCES = archives.read_sources(Path(archives.__file__).with_name("SOURCES.tsv"))


def test_no_repository_that_judges_is_a_source() -> None:
    assert len(SOURCES) > 300
    assert [source.name for source in SOURCES if judges.is_judge(source.name)] == []


@pytest.mark.parametrize(
    "name",
    [
        "flask", "php-monolog", "golang-github-spf13-cobra", "node-express", "express", "zod",
        "libcommons-lang-java", "rust-serde", "haskell-aeson", "kotlinx-coroutines", "leveldb",
    ],
)  # fmt: skip
def test_a_judge_is_known_under_the_names_of_registries(name: str) -> None:
    assert judges.is_judge(name)


def test_every_source_has_a_permissive_licence_and_a_digest() -> None:
    for source in SOURCES:
        names = [name for part in source.licence.split("; ") for name in part.split(" AND ")]
        assert set(names) <= set(licences.PERMISSIVE.values()), source
        assert len(source.digest) == 64, source


@pytest.mark.parametrize(
    ("said", "licence"),
    [
        ("Expat", "MIT"),
        ("MIT OR Apache-2.0", "MIT"),
        ("GPL-2+ or BSD-3-clause", "BSD-3-Clause"),
        ("Expat and BSD-3-clause", "BSD-3-Clause AND MIT"),
        ("Expat and GPL-2", ""),
        ("GPL-3+", ""),
        ("LGPL-2.1", ""),
        ("MPL-2.0", ""),
        ("public-domain", ""),
        ("", ""),
    ],
)
def test_licences_are_permissive_or_nothing(said: str, licence: str) -> None:
    assert licences.permissive(said) == licence


def test_the_last_matching_stanza_of_a_debian_package_counts() -> None:
    judge = licences.of_debian(
        "Format: x\n\nFiles: *\nLicense: Expat\n text\n\nFiles: lib/gpl/*\n other/*\n"
        "License: GPL-2+\n\nFiles: other/free.c\nLicense: Zlib\n"
    )
    assert judge("src/a.c") == "MIT"
    assert judge("lib/gpl/deep/a.c") == ""
    assert judge("other/a.c") == ""
    assert judge("other/free.c") == "Zlib"


PYTHON = b'''"""Keeps lamps lit while nobody looks at them."""


def keep_lamp_lit(lamp, oil):
    """Fill the reservoir before it runs dry."""
    # measure how much is left in it
    level = lamp.gauge.measure()
    if level < oil.least:
        lamp.pour(oil)
    return level
'''


def test_pairs_have_a_description_and_code_without_it() -> None:
    found = {KINDS[pair.kind]: pair for pair in pairs_of(SourceText("a/lamp.py", "python", PYTHON))}
    assert set(found) == {"doc", "comment", "name", "path"}
    assert "reservoir" in found["doc"].query
    assert "reservoir" not in found["doc"].code
    assert "gaug" in found["doc"].code
    assert "left" in found["comment"].query and "level" in found["comment"].code
    assert "keep" in found["name"].query and "keep" not in found["name"].code
