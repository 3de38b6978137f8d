"""Embedded code in other languages: where it is found, and how it joins its host."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from tree_sitter import Tree

from codelens.extract.embedded_code import language_named
from codelens.extract.facts import structure
from codelens.extract.parse import captures


def names(text: str, language: str) -> list[str]:
    return [symbol.qualified for symbol in structure(text.encode(), language).symbols]


@pytest.mark.parametrize(
    ("said", "language"),
    [
        *(("python", "python"), ("py", "python"), ("ts", "typescript"), ("tsx", "tsx")),
        *(("yml", "yaml"), ("text", ""), ("nosuch", ""), ("dockerfile", "dockerfile")),
    ],
)
def test_a_language_is_known_by_name_title_extension_or_alias(said: str, language: str) -> None:
    assert language_named(said) == language


@pytest.mark.parametrize(
    "info", ["python", "py title=x", "{python}", "{.python #id}", "{python, echo=FALSE}", " Python"]
)
def test_the_info_string_of_fenced_code_says_its_language(info: str) -> None:
    assert names(f"```{info}\ndef found(): pass\n```\n", "markdown") == ["found"]


@pytest.mark.parametrize("info", ["", "nosuch", "text", "markdown"])
def test_code_of_no_other_language_stays_text(info: str) -> None:
    assert names(f"```{info}\n# def found(): pass\n```\n", "markdown") == []


def test_code_in_prose_is_under_its_heading_but_not_named_by_it_and_never_exported() -> None:
    text = "# Top\n\n```python\nclass A:\n    def m(self): return g()\nx = 1\n```\n"
    found = structure(text.encode(), "markdown")
    extracted = [(one.kind, one.qualified, one.exported, one.parent) for one in found.symbols]
    assert extracted == [
        ("heading", "Top", True, -1),
        ("class", "A", False, 0),
        ("method", "A.m", False, 1),
    ]
    assert [(one.name, one.line, one.symbol) for one in found.references] == [("g", 5, 2)]


def test_code_in_quotes_and_lists_is_read_without_their_marks() -> None:
    text = (
        "> ```python\n> def a():\n>     pass\n> ```\n\n"
        "- x\n\n  ```python\n  def b():\n      pass\n  y = 1\n  def c(): pass\n  ```\n"
    )
    assert names(text, "markdown") == ["a", "b", "c"]


def test_broken_code_is_repaired_within_its_part() -> None:
    text = "```python\ndef a(:\n    x = [\ndef b():\n    pass\n```\n\ndef c(): not code\n"
    assert names(text, "markdown") == ["b"]


def test_a_page_in_prose_has_its_scripts_and_nothing_deeper() -> None:
    page = "<script>\nfunction a() {}\n</script>"
    assert names(f"```html\n{page}\n```\n", "markdown") == ["a"]


def test_no_more_than_200_parts_are_read() -> None:
    text = "".join(f"```python\ndef f{at}(): pass\n```\n" for at in range(220))
    assert len(names(text, "markdown")) == 200


def test_the_attribute_of_a_script_says_its_language() -> None:
    text = (
        '<script lang="ts">let a: number; function b(x: A): B {}</script>\n'
        '<script type="text/x-template">function c() {}</script>\n'
        '<script type="module">function d() {}</script>\n'
    )
    assert [name for name in names(text, "html") if name in "bcd"] == ["b", "d"]


def test_a_template_may_use_names_of_its_script() -> None:
    text = (
        '<template><A @click="go"/><b/></template>\n'
        '<script>\nimport A from "a"\nfunction go() {}\n</script>\n'
    )
    found = structure(text.encode(), "vue")
    assert [one.name for one in found.references] == ["A", "click", "go"]


def notebook(*cells: list[str]) -> str:
    made = [{"cell_type": "code", "outputs": [], "source": lines} for lines in cells]
    return json.dumps({"cells": made, "metadata": {}}, indent=1)


def test_cells_are_read_as_one_text_at_their_places_in_the_file() -> None:
    text = notebook(
        ["%load x\n", 'def f(a="\\n"):\n', '    """Doc "quoted"."""\n', "    return 1\n"], ["f()"]
    )
    found = structure(text.encode(), "jupyter")
    (symbol,) = found.symbols
    assert (symbol.signature, symbol.doc) == ('def f(a="\\n")', 'Doc "quoted".')
    assert text.split("\n")[symbol.name_line - 1].strip().startswith('"def f')
    assert [(one.name, one.symbol) for one in found.references] == [("f", -1)]


def test_a_notebook_whose_lines_share_a_line_is_text() -> None:
    text = json.dumps({"cells": [{"cell_type": "code", "source": ["def f():\n", " pass"]}]})
    assert names(text, "jupyter") == []


def test_short_parts_of_a_long_text_need_no_deep_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    deep: list[int] = []
    whole = captures.with_deep_stack

    def count(work: Callable[[], Tree]) -> Tree:
        deep.append(1)
        return whole(work)

    monkeypatch.setattr(captures, "with_deep_stack", count)
    prose = "word " * 10_000
    part = "\n\n```python\ndef f(): return 1\n```\n"
    assert names(prose + 5 * part, "markdown").count("f") == 5
    assert deep == [1], "the page alone is long"
