"""Which lines of a file are shown, and how many of its places."""

from __future__ import annotations

import pytest
from ranking_index import Store

from codelens.rank.search_request import Ranked


def first(store: Store, files: dict[str, str], query: str, limit: int = 10) -> Ranked:
    return store.search(store.view(files, name=query), query, limit=limit).results[0]


def lines(one: Ranked) -> tuple[int, int]:
    return (one.start_line, one.end_line)


FILLING = "\n".join(f"def other_{at}(a, b):\n    return a * {at} + b\n" for at in range(30))


def test_a_definition_that_a_sentence_names_is_its_place(store: Store) -> None:
    text = f"{FILLING}\n\ndef trimWick(wick):\n    return wick[1:]\n\n\n" + "\n".join(
        f"# how the wick is trimmed by hand, trimmed again, wick {at}" for at in range(40)
    )
    found = first(store, {"lamp.py": text}, "how trimWick trims the wick")
    assert (found.line, found.why) == ("def trimWick(wick)", "defines trimWick")


def test_a_long_class_that_a_sentence_names_is_shown_by_its_beginning(store: Store) -> None:
    body = "\n".join(f"    def wick_{at}(self):\n        return lantern\n" for at in range(60))
    text = f'{FILLING}\n\nclass LanternKeeper:\n    """Keeps."""\n\n{body}'
    start = text[: text.index("class ")].count("\n") + 1
    found = first(store, {"lamp.py": text}, "how the LanternKeeper keeps a lantern wick")
    assert found.start_line == start and found.end_line - start < 80
    assert (found.line, found.why) == ("class LanternKeeper", "defines LanternKeeper")


def test_a_one_line_value_does_not_answer_a_question(store: Store) -> None:
    text = "lantern_oil = None\n\n\ndef pour(can):\n    # the oil of a lantern\n    can.tip()\n"
    found = first(store, {"lamp.py": text}, "how is lantern oil poured")
    assert "lantern_oil = None" not in found.line


def test_the_matching_definition_of_a_chunk_is_shown(store: Store) -> None:
    text = FILLING + (
        "\n\ndef pour(can):\n    # the oil of a lantern is filled in slowly\n    can.tip()\n"
    )
    found = first(store, {"lamp.py": text}, "filled slowly with lantern oil")
    assert found.line == "def pour(can)"


def test_further_definitions_of_the_first_files_are_listed_with_them(store: Store) -> None:
    part = "\n".join(f"    lantern.wick.trim(oil={at})" for at in range(25))
    keeper = "\n\n\n".join(f"def keep_{at}(lantern):\n{part}" for at in range(6))
    files = {"keeper.py": keeper, "zoo.py": "def feed(animal):\n    return animal.lantern\n"}
    found = first(store, files, "trim the wick of a lantern with oil", limit=2)
    places = [found, *found.also]
    assert len(found.also) == 3
    assert all(one.file.path == b"keeper.py" and one.symbol >= 0 for one in places)
    assert len({lines(one) for one in places}) == 4
    files["b.py"] = keeper.replace("keep_", "hold_")
    shown = store.search(store.view(files, name="b"), "trim a lantern's wick with oil", limit=3)
    assert [len(one.also) > 1 for one in shown.results[:2]] == [True, True]


@pytest.mark.parametrize(
    ("name", "head", "function"),
    [
        ("NullWick.kt", "package shop.wick\n", "fun burn(): Int { return 0 }"),
        ("NullWick.java", "package shop.wick;\n", "class NullWick { int burn() { return 0; } }"),
        ("NullWick.scala", "package shop.wick\n", "class NullWick { def burn = 0 }"),
        ("null_wick.rs", "mod wick;\n", "fn burn() -> u8 { 0 }"),
        ("NullWick.cs", "namespace Shop.Wick;\n", "class NullWick { int Burn() { return 0; } }"),
    ],
)
def test_the_name_of_a_package_is_not_listed_with_an_answer(
    store: Store, name: str, head: str, function: str
) -> None:
    files = {f"wick/{name}": f"{head}\n\n{function}\n", "keeper.py": FILLING}
    found = first(store, files, "does this lantern bypass the wick")
    shown = [one.line for one in (found, *found.also)]
    assert not [line for line in shown if line.startswith(("package", "mod", "namespace"))], shown


def test_a_heading_of_a_file_alone_is_shown_with_what_follows(store: Store) -> None:
    text = "defmodule Lantern.Keeper do\n" + "".join(
        f"  def other_{at}(a) do\n    a + {at}\n  end\n\n" for at in range(60)
    )
    found = first(store, {"lib/lantern/keeper.ex": f"{text}end\n"}, "the lantern keeper module")
    assert found.end_line > found.start_line


def test_definitions_of_tests_come_behind_those_in_other_conventions(store: Store) -> None:
    files = {
        "tests/lamp.py": "def lantern():\n    return oil\n",
        "src/settings.py": "LANTERN = [1,\n 2]\n",
    }
    view = store.view(files)
    found = [one.file.path for one in store.search(view, "lantern").results]
    assert found == [b"src/settings.py", b"tests/lamp.py"]


def test_a_test_inside_its_source_is_not_shown_for_it(store: Store) -> None:
    text = (
        "pub struct Hidden;\n\nimpl Hidden {\n    /// The hidden flag.\n"
        "    pub fn flag(&self) -> bool {\n"
        "        true\n    }\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn hidden_flag() {\n"
        "        assert!(super::Hidden.flag());\n    }\n}\n"
    )
    found = first(store, {"src/flags.rs": text}, "where is the hidden flag read")
    assert "hidden_flag" not in found.line


def test_a_class_is_shown_for_its_name_and_not_its_constructor(store: Store) -> None:
    text = (
        "class Pager {\n  // cuts rows into pages\n  private int size;\n\n  Pager(int size) {\n"
        "    this.size = size;\n  }\n\n  int rows() {\n    return size;\n  }\n}\n"
    )
    found = first(store, {"src/Pager.java": text}, "pager of rows")
    assert found.line == "class Pager"


def test_a_field_or_alias_represents_its_type_unless_requested(store: Store) -> None:
    text = (
        "class Splitter:\n"
        "    Delimiter = str\n\n"
        "    def __init__(self, delimiter):\n"
        "        self.delimiter = delimiter\n\n"
        "    def pieces(self, text):\n"
        "        return text.partition(self.delimiter)\n"
    )
    files = {"splitter.py": text, "other.py": "def other():\n    return 1\n"}
    found = first(store, files, "split a string by its delimiter")
    assert found.line != "Delimiter = str" and "__init__" not in found.line
    assert first(store, files, "Splitter.Delimiter").line.startswith("Delimiter")


def test_the_definition_that_does_it_is_shown_not_the_adjacent_table(store: Store) -> None:
    table = "\n".join(f"    {at}: 'lantern oil code {at}'," for at in range(30))
    text = (
        f"CODES = {{\n{table}\n}}\n\n\n"
        "def pour(can, lantern):\n"
        '    """Pour the oil of a can into a lantern until it is full."""\n'
        "    while can.oil and not lantern.full:\n"
        "        lantern.oil += can.oil.take()\n"
    )
    found = first(store, {"oil.py": text}, "pour oil into a lantern until it is full")
    assert found.line == "def pour(can, lantern)"
