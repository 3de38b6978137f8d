"""Excerpts: numbers of lines, and a page's text below one."""

from __future__ import annotations

from dataclasses import replace

from codelens.answers.reading_answers import Excerpt
from codelens.render.reading_text import numbered, page_notes

EXCERPT = Excerpt(
    handle="till.py#charge", asked="charge", path="till.py", start_line=9, end_line=10,
    language="python", text="def charge():\n    return 1\n", last_line=10,
)  # fmt: skip


def test_lines_have_the_numbers_of_the_file() -> None:
    text = numbered(EXCERPT, EXCERPT.text, lambda number: f"<{number}>")
    assert text == "< 9>  def charge():\n<10>      return 1\n"


def test_a_list_of_declarations_has_no_numbers() -> None:
    assert numbered(replace(EXCERPT, folded=True), "def a()\n", str.upper) == "def a()\n"


def test_a_cut_excerpt_names_the_lines_that_follow() -> None:
    cut = replace(EXCERPT, truncated=True, last_line=20)
    assert page_notes(cut) == ["truncated after line 10; continue with till.py:11-20"]
    assert page_notes(replace(cut, folded=True)) == ["more definitions: raise --max-lines"]


def test_code_that_was_sent_says_how_to_have_it_again() -> None:
    (note,) = page_notes(replace(EXCERPT, sent="unchanged", sent_at=9))
    assert note == "lines 9-10 sent earlier, unchanged; --again prints it once more"
