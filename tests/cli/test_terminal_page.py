"""Layout of answers on a terminal: the content stays the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from forked_commands import codelens_text
from gitrepo import GitRepo
from hypothesis import given
from hypothesis import strategies as st
from pseudo_terminal import STYLE, on_a_terminal, without_bar
from shop_repository import FILES

from codelens.cli.terminal_page import hanging, lay_out, width_of

HANDLE = "src/auth.py#Session.validate"


def shown(*lines: str, columns: int = 60) -> list[str]:
    """The laid-out text, without styles."""
    return [STYLE.sub("", line) for line in lay_out(lines, columns)]


def test_cells_begin_below_one_another() -> None:
    assert shown("called by (2)\n  a.py#f  1-3  at :2", "  long/b.py#g  10  at :9") == [
        "called by (2)",
        "  a.py#f       1-3  at :2",
        "  long/b.py#g  10   at :9",
    ]


def test_line_numbers_are_aligned_to_the_right_and_nesting_stays() -> None:
    assert shown("a.py  9 lines", "  1  class A", "  10    def f()") == [
        "a.py  9 lines", "   1  class A", "  10    def f()",
    ]  # fmt: skip


def test_a_heading_of_rows_that_are_not_listed_is_a_heading_still() -> None:
    rows = ["direct (1; 1 fits)", "  a.py#f  1", "in 3 steps (9)  (+9 not listed: higher limit)"]
    (*_, last) = lay_out(rows, 60)
    assert last == "\x1b[1min 3 steps (9)\x1b[0m  \x1b[2m(+9 not listed: higher limit)\x1b[0m"


def test_a_chart_stays_as_it_was_drawn() -> None:
    chart = ["  search   5  ███  served   4.9 kB", "  status  12  █    served 118.0 kB"]
    assert shown(*chart) == chart


def test_a_wide_row_is_cut_and_its_handle_is_whole() -> None:
    row = f"{HANDLE}  10-42  method  def validate(self, token, leeway, clock)"
    (line,) = shown(row, columns=64)
    assert line == f"{HANDLE}  10-42  method  def validate(self,…"
    (line,) = shown(row, columns=56)
    assert line == f"{HANDLE}  10-42  method …"
    (line,) = shown(row, columns=20)
    assert line == HANDLE


def test_folders_of_other_places_go_first() -> None:
    (line,) = shown(f"  {HANDLE}  3  calls src/tokens/check.py#verify at :4", columns=66)
    assert line == f"  {HANDLE}  3  calls …/check.py#verify at :4"


def test_text_other_than_lists_is_wrapped_and_never_cut() -> None:
    (row,) = shown("note  one two three four five six", columns=20)
    assert row == "note  one two three\n      four five six"
    assert shown("one two three four five six", columns=20) == [
        "one two three four", "  five six",
    ]  # fmt: skip
    assert hanging("one two three", 8, 24) == "one two three"
    assert hanging("one two three four", 8, 24) == "one two three\n        four"


def test_lines_of_code_are_left_alone() -> None:
    code = [f"{number}:    return {'x' * 90}" for number in (9, 10)]
    assert shown(*code, columns=40) == code


def test_wide_and_combining_letters_count_as_they_are_drawn() -> None:
    assert (width_of("汉a"), width_of("e\u0301"), width_of("abc")) == (3, 1, 3)
    assert shown("汉.py#f  1", "abc.py#f  2") == ["汉.py#f   1", "abc.py#f  2"]


def test_roles_have_styles() -> None:
    (heading, first, lost) = lay_out(
        ["notes  note · saved", f"  current  {HANDLE}  4-6", "  gone     old.py#f"], 80
    )
    assert heading.startswith("\x1b[1mnotes\x1b[0m")
    assert "\x1b[35msrc/auth.py\x1b[0m\x1b[1m#Session.validate\x1b[0m" in first
    assert "\x1b[36mcurrent\x1b[0m" in first and "\x1b[2m4-6\x1b[0m" in first
    assert "\x1b[33mgone\x1b[0m" in lost


CELLS = st.text("abcü汉 #/.:-()", min_size=1, max_size=30).map(lambda text: " ".join(text.split()))


@given(
    rows=st.lists(st.tuples(st.sampled_from(["", "  "]), st.lists(CELLS, max_size=4)), max_size=8),
    columns=st.integers(1, 100),
)
def test_no_row_loses_its_handle_or_exceeds_the_width(rows, columns: int) -> None:
    handles = [f"src/a{number}.py#name_{number}" for number in range(len(rows))]
    lines = [
        "  ".join((f"{indent}{handle}", *filter(None, cells)))
        for handle, (indent, cells) in zip(handles, rows, strict=True)
    ]
    laid_out = shown(*lines, columns=columns)
    assert [line.split()[0] for line in laid_out] == handles
    for line, handle in zip(laid_out, handles, strict=True):
        others = re.split(r" {2,}", line.strip())[1:]
        fits = width_of(line) <= columns
        # A line that is still too wide holds only handles and text that cannot be shortened.
        assert (
            fits
            or line.strip() == handle
            or any("#" in one or "." in one or "/" in one for one in others)
        )


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    pytest.importorskip("pty")
    made = GitRepo.init(tmp_path_factory.mktemp("page") / "repo")
    made.commit("first", FILES)
    made.commit("second", {"shop/cart.py": FILES["shop/cart.py"].replace("total", "sum_of_all")})
    return made


COMMANDS = (
    ("outline",),
    ("outline", "shop/book.py"),
    ("map",),
    ("related", "tax"),
    ("impact", "tax"),
    ("impact", "--diff", "HEAD~1"),
    ("history", "tax"),
    ("diff", "HEAD~1"),
    ("explore", "change the price of a book"),
    ("status",),
    ("conflicts",),
    ("load",),
    ("languages",),
    ("prune", "--dry-run"),
)


def _answer(text: str) -> list[str]:
    """The lines that do not depend on time: without the receipt, sizes and days."""
    lines = [line for line in text.replace("\r", "").splitlines() if "@" not in line]
    # A receipt wraps on a terminal wherever its time breaks: `12`, `ms`, ``.
    lines = [line for line in lines if not re.fullmatch(r"[\d,\s]*(?:m?s)?|.* ms", line)]
    return [line for line in lines if not line.startswith(("note:", "index", "codelens:"))]


def _piped(repo: GitRepo, args: tuple[str, ...]) -> str:
    home = repo.root.parent / "home"
    return codelens_text(*args, cwd=repo.root, home=home, env={"COLUMNS": "50"}).stdout


@pytest.mark.slow
@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("wish", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["no-color", "dumb"])
def test_without_colours_a_terminal_gets_what_a_pipe_gets(
    repo: GitRepo, args: tuple[str, ...], wish: dict[str, str]
) -> None:
    home = repo.root.parent
    text = without_bar(on_a_terminal(repo.root, *args, columns=50, home=home, extra=wish))
    assert "\x1b" not in text
    assert _answer(text) == _answer(_piped(repo, args))


@pytest.mark.slow
@pytest.mark.parametrize("args", (*COMMANDS, ("search", "price"), ("expand", "tax")), ids=" ".join)
def test_every_command_has_colours_on_a_terminal_and_a_pipe_has_none(
    repo: GitRepo, args: tuple[str, ...]
) -> None:
    home: Path = repo.root.parent
    _piped(repo, args)  # indexed, so that no bar is drawn
    shown_ = without_bar(on_a_terminal(repo.root, *args, columns=50, home=home))
    answer = [line for line in shown_.splitlines() if "\x1b[2mfresh" not in line]
    assert STYLE.search("\n".join(answer)) or args in {
        ("load",),
        ("conflicts",),
        ("prune", "--dry-run"),
    }
    assert "\x1b" not in _piped(repo, args)
