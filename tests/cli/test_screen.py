"""How text is made safe for a screen."""

from __future__ import annotations

import io

import pytest

from codelens.cli.screen import colours
from codelens.cli.standard_streams import Bar
from codelens.render.text_pieces import lines_of, receipt_line, safe
from codelens.types import Receipt


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def receipt(**changes) -> Receipt:
    fields = {
        "index_id": "3f", "worktree": "/w", "branch": "main", "head": "1a2b3c4d5e",
        "status": "fresh", "files": 1234, "checked": 1234, "indexed": 2, "elapsed_ms": 34.4,
    }  # fmt: skip
    return Receipt(**{**fields, **changes})


def test_a_receipt_is_one_line() -> None:
    assert receipt_line(receipt()) == (
        "fresh · main@1a2b3c4 · 1,234 files checked, 2 re-indexed · 34 ms"
    )


def test_a_partial_receipt_names_few_pending_files_and_counts_many() -> None:
    many = receipt(
        status="partial", checked=1000, pending=12, unread=3, pending_names=("a.py", "b.py")
    )
    assert receipt_line(many) == (
        "partial · main@1a2b3c4 · 1,000 of 1,234 files checked, 2 re-indexed · 12 files not "
        "indexed yet, 3 of them not searched: ask again · 34 ms"
    )
    few = receipt(status="partial", pending=2, pending_names=("a.py", "b.py"))
    assert (
        " · 2 files not indexed yet (a.py, b.py), but this answer searched them all · "
        in receipt_line(few)
    )


def test_a_receipt_shows_a_detached_and_an_unborn_head() -> None:
    assert "detached@1a2b3c4" in receipt_line(receipt(branch=""))
    assert "main (no commit yet)" in receipt_line(receipt(head=""))
    assert "@" not in receipt_line(receipt(branch="", head=""))


@pytest.mark.parametrize(
    "char",
    ["\x1b", "\x00", "\x07", "\x9b", "\r", "\u202e", "\u2066", "\u200f", "\U000e0041", "\ud800"],
)
def test_control_sequences_are_shown_as_codes(char: str) -> None:
    assert safe(f"a{char}b") == f"a\\x{ord(char):02x}b"


def test_lines_tabs_and_letters_of_all_scripts_stay() -> None:
    assert safe("a\tb\r\nπ→汉🙂") == "a\tb\nπ→汉🙂"
    assert (lines_of(3, 3), lines_of(3, 9)) == ("3", "3-9")


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert colours(Terminal())
    assert not colours(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colours(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not colours(Terminal())


def test_progress_is_drawn_on_a_terminal_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar() as bar:
        for done in range(3):
            bar("reading", done, 3)
    assert capsys.readouterr().err == ""
