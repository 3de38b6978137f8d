"""An empty ledger is not written to disk."""

from __future__ import annotations

from pathlib import Path

from hosts.hosting import Scratch, problems


def test_the_last_uninstall_takes_the_ledger_with_it(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    ledger = scratch.kept / "install.json"
    assert not problems(scratch.install("claude-code", "codex"))
    assert not problems(scratch.uninstall("codex"))
    assert ledger.exists()
    assert not problems(scratch.uninstall("claude-code"))
    assert not ledger.exists()
    assert scratch.everything() == {}
