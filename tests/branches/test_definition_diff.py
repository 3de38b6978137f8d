"""Diffs of definitions on two sides: what is reported for each, and that nothing else is."""

from __future__ import annotations

import pytest

from codelens.branches.definition_diff import DefinitionDiff, definition_diff
from codelens.branches.file_definitions import FileText
from codelens.extract.facts import facts_of
from codelens.scope.text_diff import changed_lines

PYTHON = b'''import os

LIMIT = 10

# about load
def load(name, mode="r"):
    """Load a file."""
    with open(name, mode) as file:
        return parse(file.read(), strict=True)


class Shop:
    title = "shop"

    def open(self, door):
        for lock in door.locks:
            lock.release(self.title)
        return door

    def close(self, door, night):
        door.shut()
        return night.begin(door, self.title)
'''


def text(path: bytes, data: bytes, language: str) -> FileText:
    symbols = facts_of(data, language).structure.symbols
    return FileText(path, data, symbols, language, "text", data)


def compared(
    old: dict[bytes, bytes], new: dict[bytes, bytes], language: str = "python"
) -> DefinitionDiff:
    return definition_diff(
        [text(path, data, language) for path, data in old.items()],
        [text(path, data, language) for path, data in new.items()],
        changed_lines,
    )


def reported(diff: DefinitionDiff) -> dict[str, tuple[str, ...]]:
    return {
        change.definition.symbol.qualified: change.how
        for file in diff.files
        for change in file.definitions
    }


def edited(*pairs: tuple[bytes, bytes]) -> dict[str, tuple[str, ...]]:
    new = PYTHON
    for old_text, new_text in pairs:
        assert old_text in new
        new = new.replace(old_text, new_text)
    return reported(compared({b"a.py": PYTHON}, {b"a.py": new}))


def test_body_signature_and_docstring_changes_are_distinguished() -> None:
    assert edited((b"strict=True", b"strict=False")) == {"load": ("body",)}
    assert edited((b'mode="r"):', b'mode="r", more=1):')) == {"load": ("signature",)}
    assert edited((b"Load a file", b"Read a file")) == {"load": ("documentation",)}
    assert edited((b"# about load", b"# on load")) == {"load": ("documentation",)}
    assert edited((b"LIMIT = 10", b"LIMIT = 11")) == {"LIMIT": ("body",)}


def test_blank_lines_do_not_change_a_definition() -> None:
    assert edited((b"\n    def close", b"\n\n\n    def close")) == {}


def test_a_renamed_definition_is_one_change() -> None:
    assert edited((b"def load(", b"def fetch(")) == {"fetch": ("renamed",)}


def test_a_renamed_owner_does_not_mark_its_members() -> None:
    assert edited((b"class Shop:", b"class Store:")) == {"Store": ("renamed",)}


def test_a_moved_definition_shows_its_new_lines() -> None:
    at = PYTHON.index(b"class Shop")
    moved = PYTHON[at:].replace(b"night.begin", b"night.start")
    diff = compared({b"a.py": PYTHON}, {b"a.py": PYTHON[:at], b"b.py": moved})
    assert reported(diff) == {"Shop": ("moved",), "Shop.close": ("body",)}
    at = PYTHON.index(b"# about load")
    end = PYTHON.index(b"class Shop")
    load = PYTHON[at:end].replace(b"strict=True", b"strict=quick")
    diff = compared(
        {b"a.py": PYTHON, b"b.py": b"X = 1\n"},
        {b"a.py": PYTHON[:at] + PYTHON[end:], b"b.py": b"X = 1\n\n" + load},
    )
    (change,) = [one for file in diff.files for one in file.definitions]
    assert change.how == ("moved", "body")
    assert 0 < change.share_new < 0.3


def test_a_renamed_file_is_reported_as_renamed() -> None:
    diff = compared({b"a.py": PYTHON}, {b"c.py": PYTHON})
    (file,) = diff.files
    assert (file.how, file.definitions, file.outside) == ("renamed", (), ())


def test_another_order_marks_no_definition() -> None:
    first, second = PYTHON.index(b"    def open"), PYTHON.index(b"    def close")
    new = PYTHON[:first] + PYTHON[second:] + b"\n" + PYTHON[first:second].rstrip() + b"\n"
    diff = compared({b"a.py": PYTHON}, {b"a.py": new})
    (file,) = diff.files
    assert file.definitions == ()
    assert [part.how for part in file.outside] == ["reordered"]


def test_code_outside_definitions_is_reported_as_such() -> None:
    diff = compared({b"a.py": PYTHON}, {b"a.py": PYTHON.replace(b"import os", b"import sys")})
    (file,) = diff.files
    assert file.definitions == ()
    assert [(part.how, part.old_lines, part.new_lines) for part in file.outside] == [
        ("imports", ((1, 1),), ((1, 1),))
    ]


JAVA = b"""class A {
  int size(int a) {
    return first(a) + second(a);
  }

  int size(String a) {
    return a.length() + third(a);
  }
}
"""


def test_overloads_that_changed_places_are_matched_by_their_text() -> None:
    lines = JAVA.split(b"\n")
    swapped = b"\n".join([*lines[:1], *lines[5:8], b"", *lines[1:4], *lines[8:]])
    assert reported(compared({b"A.java": JAVA}, {b"A.java": swapped}, "java")) == {}
    edited_one = JAVA.replace(b"third", b"fourth")
    diff = compared({b"A.java": JAVA}, {b"A.java": edited_one}, "java")
    (change,) = [one for file in diff.files for one in file.definitions]
    assert change.how == ("body",)
    assert change.new is not None
    assert "String" in change.new.symbol.signature


def test_indentation_is_formatting_in_java_and_code_in_python() -> None:
    reindented = JAVA.replace(b"    return first", b"      return first")
    assert reported(compared({b"A.java": JAVA}, {b"A.java": reindented}, "java")) == {
        "A.size": ("formatting",)
    }
    assert edited((b"            lock.release(self.title)\n        return door",
                   b"            lock.release(self.title)\n            return door")) == {
        "Shop.open": ("body",)
    }  # fmt: skip


@pytest.mark.parametrize("new", [PYTHON, PYTHON.replace(b"Shop", b"Bar"), b"", b"X = 1\n" * 30])
def test_reported_lines_account_for_every_difference(new: bytes) -> None:
    diff = compared({b"a.py": PYTHON}, {b"a.py": new})
    old_told: set[int] = set()
    new_told: set[int] = set()
    for file in diff.files:
        for one in (*file.definitions, *file.outside):
            old_told |= {n for start, stop in one.old_lines for n in range(start, stop + 1)}
            new_told |= {n for start, stop in one.new_lines for n in range(start, stop + 1)}
    left = [
        [line for at, line in enumerate(side.split(b"\n"), 1) if line.strip() and at not in known]
        for side, known in ((PYTHON, old_told), (new, new_told))
    ]
    assert left[0] == left[1]


GO_TYPE = b"""type Shop struct {
	doors  []Door
	owners []Owner
	opened, closed, rented bool
}
"""
GO_METHOD = b"""func (shop *Shop) Open(night Night) error {
	return night.begin(shop.doors, shop.owners)
}
"""


@pytest.mark.parametrize("with_method", [False, True])
def test_a_method_outside_of_its_type_may_stay_or_go_with_it(with_method: bool) -> None:
    rest = b"package a\n\nfunc Other(one int) int {\n\treturn one + first + second\n}\n\n"
    went = GO_TYPE + b"\n" + GO_METHOD if with_method else GO_TYPE
    stays = b"" if with_method else GO_METHOD
    diff = compared(
        {b"a.go": rest + GO_TYPE + b"\n" + GO_METHOD, b"b.go": b"package a\n"},
        {b"a.go": rest + stays, b"b.go": b"package a\n\n" + went},
        "go",
    )
    assert reported(diff) == {"Shop": ("moved",)}


TWO_OF_ONE_NAME = b"""(function (bundle) {
  class Connector {
    open(first, second) { return first.open(second, this.a, this.b); }
  }
  bundle.one = Connector;
})(window);
(function (bundle) {
  class Connector {
    close(door, night) { return door.shut(night, this.lock, this.key); }
  }
  bundle.two = Connector;
})(window);
"""


def test_members_follow_the_type_that_they_stand_in_not_one_of_the_same_name() -> None:
    at = TWO_OF_ONE_NAME.index(b"(function (bundle) {\n  class Connector {\n    close")
    diff = compared(
        {b"a.js": TWO_OF_ONE_NAME, b"b.js": b"const b = 1;\n"},
        {b"a.js": TWO_OF_ONE_NAME[:at], b"b.js": b"const b = 1;\n" + TWO_OF_ONE_NAME[at:]},
        "javascript",
    )
    assert reported(diff) == {"Connector": ("moved",)}


def test_an_unchanged_definition_that_parses_differently_is_not_reported() -> None:
    """A grammar may parse an annotation as a statement if other lines confuse it."""
    old = b"@cached\ndef load(name):\n    return name\n\n\nLIMIT = 1\n"
    new = old.replace(b"1", b"2")
    files = [text(b"a.py", data, "python") for data in (old, new)]
    cut = [
        symbol._replace(start_line=2, start_byte=8) if symbol.name == "load" else symbol
        for symbol in files[0].symbols
    ]
    diff = definition_diff([files[0]._replace(symbols=cut)], [files[1]], changed_lines)
    assert reported(diff) == {"LIMIT": ("body",)}
    assert diff.files[0].outside == ()


@pytest.mark.parametrize(
    ("language", "head"), [("kotlin", b"package a.b\n"), ("php", b"<?php\nnamespace A\\B;\n")]
)
def test_the_package_of_a_file_that_came_or_went_has_not_moved(language: str, head: bytes) -> None:
    bodies = {
        "kotlin": (b"fun one(x: Int): Int = x\n", b"class Thing(val name: String)\n"),
        "php": (b"function one($x) { return $x; }\n", b"class Thing { public $name = 3; }\n"),
    }[language]
    diff = compared({b"one": head + bodies[0]}, {b"other": head + bodies[1]}, language)
    ways = {how for file in diff.files for change in file.definitions for how in change.how}
    assert ways == {"added", "removed"}
