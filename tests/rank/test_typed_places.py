"""Paths, lines, links, folders and node ids, as they are typed and pasted."""

from __future__ import annotations

import pytest
from cpu_growth import assert_linear
from ranking_index import paths, places

from codelens.rank.pasted import pasted_locations
from codelens.rank.pasted.pasted_locations import Ends, Location

BIG = "class Big:\n" + "".join(
    f"    def part_{n}(self):\n        return {n}\n\n" for n in range(60)
)
FILES = {
    "src/app/views.py": "import os\n\n\ndef index(request):\n    x = 1\n    return x\n",
    "src/app/big.py": BIG,
    "src/app/my file.txt": "hello\n",
    "tests/test_views.py": (
        "class TestViews:\n    def test_index(self):\n        assert 1\n\n\n"
        "def test_index():\n    assert 2\n"
    ),
    "README.md": "# Read\n\nme\n",
    "web/pages/[id].tsx": "export function Page() {\n  return 1;\n}\n",
}


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("src/app/views.py", ("src/app/views.py", 1, 6)),
        ("./src/app/views.py", ("src/app/views.py", 1, 6)),
        ("src\\app\\views.py", ("src/app/views.py", 1, 6)),
        ("views.py:5", ("src/app/views.py", 4, 6)),
        ("views.py:5:9", ("src/app/views.py", 4, 6)),
        ("app/views.py#L4-L6", ("src/app/views.py", 4, 6)),
        ("app/views.py:4-5", ("src/app/views.py", 4, 6)),
        ("views.py(5)", ("src/app/views.py", 4, 6)),
        ("views.py, line 5", ("src/app/views.py", 4, 6)),
        ("/home/bob/repo/src/app/views.py:5", ("src/app/views.py", 4, 6)),
        ("C:\\work\\repo\\src\\app\\views.py:5", ("src/app/views.py", 4, 6)),
        ("a/src/app/views.py", ("src/app/views.py", 1, 6)),
        ("+++ b/src/app/views.py", ("src/app/views.py", 1, 6)),
        ("diff --git a/src/app/views.py b/src/app/views.py", ("src/app/views.py", 1, 6)),
        ("https://github.com/o/r/blob/main/src/app/views.py#L5", ("src/app/views.py", 4, 6)),
        ("file:///home/bob/repo/src/app/views.py", ("src/app/views.py", 1, 6)),
        ("src/app/big.py:30", ("src/app/big.py", 29, 30)),
        ("web/pages/[id].tsx:2", ("web/pages/[id].tsx", 1, 3)),
        ("tests/test_views.py::TestViews::test_index", ("tests/test_views.py", 2, 3)),
        ("tests/test_views.py::test_index[a-1]", ("tests/test_views.py", 6, 7)),
        ("src/app/views.py#index", ("src/app/views.py", 4, 6)),
        ("src/app/my file.txt", ("src/app/my file.txt", 1, 1)),
    ],
)
def test_a_place_is_found_however_it_is_written(asked, query: str, place) -> None:
    store, view = asked
    outcome = store.search(view, query)
    assert outcome.mode == "path"
    assert places(outcome)[0] == place


@pytest.mark.parametrize(
    "query", ["src/app", "src/app/", "src\\app", "/home/bob/repo/src/app", "./src/app"]
)
def test_a_folder_answers_with_its_files(asked, query: str) -> None:
    store, view = asked
    outcome = store.search(view, query)
    assert set(paths(outcome)) == {
        "src/app/views.py", "src/app/big.py", "src/app/my file.txt"
    }  # fmt: skip


def test_lines_of_a_long_definition_are_shown_themselves(asked) -> None:
    store, view = asked
    outcome = store.search(view, "big.py#L2-L100")
    assert places(outcome) == [("src/app/big.py", 2, 100)]
    assert outcome.results[0].why == "around lines 2-100, in Big"


def test_a_line_beyond_the_end_is_said_and_the_file_shown(asked) -> None:
    store, view = asked
    outcome = store.search(view, "src/app/views.py:600")
    assert places(outcome) == [("src/app/views.py", 1, 6)]
    assert outcome.notes == ["no line 600: `src/app/views.py` has 6 lines"]


def test_a_file_that_is_not_here_is_said(asked) -> None:
    store, view = asked
    outcome = store.search(view, "src/app/missing_views.py:12")
    assert "no file `src/app/missing_views.py` here; its words were ranked" in outcome.notes
    assert outcome.mode != "path"


def test_a_relative_path_of_which_only_the_end_is_here_is_said(asked) -> None:
    store, view = asked
    outcome = store.search(view, "docs/README.md")
    assert paths(outcome) == ["README.md"]
    assert outcome.notes == ["no `docs/README.md` here; `README.md` has the same end"]


def test_a_test_that_is_not_in_the_file_is_said(asked) -> None:
    store, view = asked
    outcome = store.search(view, "tests/test_views.py::test_gone")
    assert paths(outcome) == ["tests/test_views.py"]
    assert outcome.notes == ["no `test_gone` in `tests/test_views.py`"]


def test_a_place_among_words_comes_first(asked) -> None:
    store, view = asked
    outcome = store.search(view, "why does src/app/views.py:5 return big parts")
    assert places(outcome)[0] == ("src/app/views.py", 4, 6)
    assert outcome.mode == "auto"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a/b.py:3:7", Location("a/b.py", 3, 3, (), is_certain=True)),
        ("a.py:9-3", Location("a.py", 9, 9, (), is_certain=True)),
        ("a.cs(12,5)", Location("a.cs", 12, 12, (), is_certain=True)),
        ("t.py::A::b[x::y]", Location("t.py", 0, 0, ("A", "b"), is_certain=True)),
        ("Session.validate", Location("Session.validate")),
        ("std::vector", None),
        ("foo.*bar", None),
        ("words only", None),
        ("List<a/b>", None),
    ],
)
def test_places_are_distinguished_from_other_texts(text: str, found: Location | None) -> None:
    assert pasted_locations.whole(text) == found


def test_the_longest_common_end_decides(asked) -> None:
    _, view = asked
    ends = Ends(view.files, ["x/app/views.py", "Views.PY", "nowhere.py"])
    assert [file.path for file in ends.find("x/app/views.py").files] == [b"src/app/views.py"]
    assert ends.find("x/app/views.py").common == 2
    assert [file.path for file in ends.find("Views.PY").files] == [b"src/app/views.py"]
    assert ends.find("nowhere.py").common == 0


@pytest.mark.parametrize("pattern", ["a/", "a.", "x", "C:\\a b", "("])
def test_time_for_a_long_token_grows_with_its_length(pattern: str) -> None:
    assert_linear(pasted_locations.whole, pattern, 5_000)
    assert_linear(pasted_locations.inside, pattern, 5_000)
