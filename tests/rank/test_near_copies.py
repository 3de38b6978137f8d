"""Near-copies become one result; different answers stay separate."""

from __future__ import annotations

import pytest
from ranking_index import Store

from codelens.rank import result_places
from codelens.rank.search_request import Ranked

BODY = "\n".join(f"    step_{at} = lantern(wick_{at}, oil_{at})" for at in range(12))
TRIM = f"def trim_lantern(wick):\n{BODY}\n    return step_1\n"
"""More than 60 words and signs."""


def found(store: Store, files: dict[str, str], query: str, **options) -> list[Ranked]:
    return store.search(store.view(files, name=query + str(files)), query, **options).results


def shown(results: list[Ranked]) -> list[str]:
    return [one.file.path.decode() for one in results]


def folded(results: list[Ranked]) -> dict[str, list[str]]:
    return {one.file.path.decode(): shown(list(one.alike)) for one in results if one.alike}


def test_one_text_at_several_paths_is_one_result(store: Store) -> None:
    files = {f"{name}/lantern.py": TRIM for name in ("one", "three", "two")}
    for query in ("trim_lantern", "how is the lantern of a wick trimmed"):
        results = found(store, {**files, "zoo.py": "def feed_lantern(wick): pass\n"}, query)
        assert folded(results) == {"one/lantern.py": ["three/lantern.py", "two/lantern.py"]}
        assert shown(results)[:2] == ["one/lantern.py", "zoo.py"]


def test_a_copied_definition_with_a_slight_change_is_folded(store: Store) -> None:
    changed = TRIM.replace("oil_3", "oil_4")
    files = {"lamps.py": TRIM, "old/copied.py": f"import lamp\n\n\n{changed}"}
    assert groups(found(store, files, "trim_lantern")) == [{"lamps.py", "old/copied.py"}]


def groups(results: list[Ranked]) -> list[set[str]]:
    return [{first, *others} for first, others in folded(results).items()]


@pytest.mark.parametrize(
    "other",
    [
        TRIM.replace("lantern(", "torch(").replace("oil_", "battery_"),
        "def trim_lantern(wick):\n    return wick.shorter()\n",
    ],
    ids=["other words", "another length"],
)
def test_a_namesake_that_does_another_thing_stays(store: Store, other: str) -> None:
    results = found(store, {"lamps.py": TRIM, "torches.py": other}, "trim_lantern")
    assert shown(results) == ["lamps.py", "torches.py"] and not folded(results)


HEADER = "/* Trims the wick of a lantern. */\nint trim_lantern(struct wick *wick);\n"
SOURCE = """#include "lantern.h"
int trim_lantern(struct wick *wick)
{
    return wick->length - 1;
}
"""


@pytest.mark.parametrize("query", ["trim_lantern", "how is the wick of a lantern trimmed"])
def test_a_prototype_is_folded_into_its_definition(store: Store, query: str) -> None:
    files = {"include/lantern.h": HEADER, "src/flame.c": SOURCE, "src/oil.c": "int oil;\n"}
    results = found(store, files, query)
    assert folded(results) == {"src/flame.c": ["include/lantern.h"]}
    assert results[0].file.path == b"src/flame.c"


def test_a_prototype_alone_is_an_answer(store: Store) -> None:
    results = found(store, {"include/lantern.h": HEADER, "src/oil.c": "int oil;\n"}, "trim_lantern")
    assert shown(results)[0] == "include/lantern.h"


def test_methods_of_two_classes_are_two_answers_despite_prototypes(store: Store) -> None:
    header = "struct {0} {{\n  int trim(int wick);\n}};\n"
    source = '#include "{1}.hpp"\nint {0}::trim(int wick) {{\n  return wick - 1;\n}}\n'
    files = {
        f"{name.lower()}.{end}": text.format(name, name.lower())
        for name in ("Lamp", "Torch")
        for end, text in (("hpp", header), ("cc", source))
    }
    results = found(store, files, "trim")
    assert folded(results) == {"lamp.cc": ["lamp.hpp"], "torch.cc": ["torch.hpp"]}


def test_short_texts_that_differ_in_one_word_are_two_answers(store: Store) -> None:
    text = "def wick_length(lamp):\n    return lamp.wick.length * {0} if lamp.lit else 0\n"
    files = {"a.py": text.format(2), "b.py": text.format(3), "c.py": text.format(2)}
    results = found(store, files, "wick_length")
    assert shown(results) == ["a.py", "b.py"] and folded(results) == {"a.py": ["c.py"]}


def test_short_methods_of_different_classes_are_two_answers(store: Store) -> None:
    text = (
        "class {0}:\n    def light(self, match):\n        return self.wick.burn(match, self.oil)\n"
    )
    files = {"a.py": text.format("Lamp"), "b.py": text.format("Stove")}
    assert not folded(found(store, files, "light"))
    files["c.py"] = text.format("Lamp") + "\n"
    assert groups(found(store, files, "light")) == [{"a.py", "c.py"}]


def test_overloads_of_one_file_are_one_result(store: Store) -> None:
    text = "class Writer {{\n{}}}\n".format(
        "".join(
            f"  void writeLamp({one} value) {{ check(value); out.append(value); count += 1; }}\n"
            for one in ("int", "long", "short")
        )
    )
    (first, *rest) = found(store, {"Writer.java": text}, "writeLamp")
    assert [one.start_line for one in first.alike] == [3, 4]
    assert all(one.symbol != first.symbol for one in rest)


def test_translations_of_one_file_are_one_result(store: Store) -> None:
    files = {
        f"conf/locale/{code}/formats.py": f'LAMP_FORMAT = "{code} {at}"\nLAMP_ORDER = {at}\n'
        for at, code in enumerate(["de", "fr", "pt_BR", "zh_Hans"])
    }
    files["conf/settings.py"] = 'LAMP_FORMAT = "none"\n'
    results = found(store, files, "LAMP_FORMAT")
    assert sorted(map(len, folded(results).values())) == [3]
    assert "conf/settings.py" in shown(results)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/io/lamp.py", "src/os/lamp.py"),
        ("lib/is.py", "lib/it.py"),
        ("db/mysql/lamp.py", "db/oracle/lamp.py"),
    ],
)
def test_folders_that_only_look_like_languages_fold_nothing(
    store: Store, one: str, other: str
) -> None:
    files = {one: "class Lamp:\n    oil = 1\n", other: "class Lamp:\n    battery = 'full'\n"}
    assert not folded(found(store, files, "Lamp"))


def test_a_shared_head_of_licence_and_imports_makes_no_copy(store: Store) -> None:
    head = "".join(f"# Licence line {at}: lanterns are free for all to use.\n" for at in range(20))
    files = {
        "git_lamp.py": f"{head}\nimport lantern\n\n\nclass GitLamp:\n    pass\n",
        "hg_lamp.py": f"{head}\nimport lantern\n\n\nclass HgLamp:\n    pass\n",
    }
    results = found(store, files, "licence of lanterns free to use")
    assert len(results) == 2 and not folded(results)


def test_folding_lets_others_in_and_keeps_to_the_limit(store: Store) -> None:
    files = {f"copy{at}/lantern.py": TRIM for at in range(4)}
    files |= {f"other{at}.py": f"def trim_lantern():\n    return {at} + wick\n" for at in range(4)}
    results = found(store, files, "trim_lantern", limit=3)
    assert len(results) == 3
    assert sum(path.startswith("copy") for path in shown(results)) == 1
    assert len(folded(results)["copy0/lantern.py"]) == 3


def test_other_content_of_the_store_folds_nothing(store: Store) -> None:
    files = {"lamps.py": TRIM, "torches.py": "def trim_lantern(wick):\n    return wick\n"}
    alone = found(store, files, "trim_lantern")
    store.view({"copy.py": TRIM, "lamps.py": TRIM}, name="other")
    again = store.search(store.view(files, name="again"), "trim_lantern").results
    assert [one[1:] for one in again] == [one[1:] for one in alone]


def test_a_result_of_many_copies_reads_a_bounded_number_of_texts(store: Store, monkeypatch) -> None:
    asked: list[bytes] = []
    tokens = result_places.Texts.tokens

    def counted(self, file, start, end):
        asked.append(file.path)
        return tokens(self, file, start, end)

    monkeypatch.setattr(result_places.Texts, "tokens", counted)
    files = {f"m{at:03}.py": f"{TRIM}# {at}\n" for at in range(100)}
    (first, *_) = found(store, files, "trim_lantern", limit=20)
    assert len(asked) <= 24
    assert first.alike


@pytest.mark.parametrize("mode", ["text", "regex"])
def test_lines_of_the_same_text_at_several_paths_are_one_result(store: Store, mode: str) -> None:
    files = {"b/lamp.py": TRIM, "a/lamp.py": TRIM, "c.py": "return step_1\n"}
    results = found(store, files, "return step_1", mode=mode)
    assert groups(results) == [{"a/lamp.py", "b/lamp.py"}]
    assert {one.file.path for one in results} == {b"a/lamp.py", b"c.py"}
