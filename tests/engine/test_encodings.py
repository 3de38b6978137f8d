"""Files that are not UTF-8: every answer decodes them as the index does."""

from __future__ import annotations

import codecs
import re

import pytest
from gitrepo import GitRepo
from lamp_contexts import states

from codelens.engine.engine import Engine

TEXT = "# café, brûlée\ndef serve_dessert():\n    return 1\n\n\ndef late_dessert():\n    return 2\n"
ENCODED = {
    "latin.py": TEXT.encode("cp1252"),
    "little.py": codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
    "big.py": codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    "widest.py": codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"),
    "marked.py": codecs.BOM_UTF8 + TEXT.encode(),
}
FILES = {**ENCODED, "logo.bin": b"\0" + TEXT.encode("cp1252")}


@pytest.mark.parametrize(
    ("query", "mode"),
    [
        ("café", "text"),
        ("Brûl", "text"),
        ("é, brûlée", "text"),
        ("^# café", "regex"),
        (r"\bbr.l[é]e\b", "regex"),
        ("(c|ca)+fé", "regex"),
        ('"# café, brûlée"', "auto"),
    ],
)
def test_text_is_found_in_every_encoding(
    engine: Engine, repository: GitRepo, query: str, mode: str
) -> None:
    answer = engine.search(query, path=repository.root, mode=mode, limit=50)
    wanted = set() if query == "Brûl" else ENCODED.keys()
    found = {path for one in answer.results for path in (one.path, *one.alike)}
    assert {re.split("[:#]", path)[0] for path in found} == wanted


def test_lines_are_shown_as_they_are_in_every_encoding(engine: Engine, repository: GitRepo) -> None:
    for query, mode in (("brûlée", "text"), ("br.lée", "regex"), ("brûlée", "auto")):
        answer = engine.search(query, path=repository.root, mode=mode, limit=50)
        assert {one.signature for one in answer.results if one.start_line == 1} == {
            "# café, brûlée"
        }


def test_the_comment_above_a_definition_is_read_in_every_encoding(
    engine: Engine, repository: GitRepo
) -> None:
    for path in ENCODED:
        answer = engine.expand([f"{path}#serve_dessert"], path=repository.root)
        assert answer.items[0].text == "".join(TEXT.splitlines(keepends=True)[:3])


def test_an_edited_definition_is_reported_in_every_encoding(
    engine: Engine, repository: GitRepo
) -> None:
    for path, data in ENCODED.items():
        repository.write(path, data.replace("2".encode(_codec(path)), "3".encode(_codec(path))))
    answer = engine.impact(diff="HEAD", path=repository.root)
    assert {(one.node.path, one.node.symbol) for one in answer.changed} == {
        (path, "late_dessert") for path in ENCODED
    }


def _codec(path: str) -> str:
    names = {"latin.py": "cp1252", "little.py": "utf-16-le", "big.py": "utf-16-be"}
    return {**names, "widest.py": "utf-32-le", "marked.py": "utf-8"}[path]


def test_a_note_follows_a_renamed_file_in_every_encoding(
    engine: Engine, repository: GitRepo
) -> None:
    for path, data in ENCODED.items():
        engine.save(path, "sweet", [f"{path}#serve_dessert"], path=repository.root)
        repository.remove(path)
        # Only these two files are alike: the copies in other encodings differ.
        codec = _codec(path)
        repository.write(f"new_{path}", data + f"# {path}\n".encode(codec))
        handle = f"new_{path}#serve_dessert"
        assert states(engine, path, repository.root) == [("moved", handle)]
        repository.remove(f"new_{path}")
