"""Long work reports its progress on the command line, when its output goes to a file."""

from __future__ import annotations

import pytest

from codelens.cli import standard_streams
from codelens.cli.standard_streams import Bar


def test_piped_long_work_says_now_and_then_where_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standard_streams, "_SAID_AFTER_S", 0.0)
    with Bar() as bar:
        bar("indexing", 128, 1772)
        bar("indexing", 256, 1772)
    ran = capsys.readouterr()
    assert ran.err == "codelens: indexing: 128 of 1,772 files\n"
    assert ran.out == ""


def test_short_work_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar() as bar:
        bar("indexing", 128, 1772)
    assert capsys.readouterr().err == ""
