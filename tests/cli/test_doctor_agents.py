"""`doctor` starts the servers configured in coding agents, and reports what would not work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shop_repository import Run


@pytest.fixture
def cursor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cursor's file, in an otherwise empty home."""
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "me"))
    monkeypatch.setenv("CODELENS_HOME", str(tmp_path / "kept"))
    file = tmp_path / "me" / ".cursor" / "mcp.json"
    file.parent.mkdir(parents=True)
    return file


def _wire(file: Path, **more: object) -> None:
    entry = {"command": "/nowhere/codelens", "args": ["serve"], **more}
    file.write_text(json.dumps({"mcpServers": {"codelens": entry}}))


def _agents(out: str) -> list[dict[str, str]]:
    return [one for one in json.loads(out)["results"] if one["check"] == "agents"]


def test_an_entry_whose_program_is_gone_is_wrong(run: Run, cursor: Path) -> None:
    _wire(cursor)
    ran = run("doctor", "--json")
    assert ran.code == 1
    (one,) = _agents(ran.out)
    assert (one["state"], one["about"]) == ("wrong", "cursor (server)")
    assert "/nowhere/codelens is not an executable program" in one["found"]
    assert "codelens install --host cursor" in one["found"]
    shown = run("doctor")
    assert (
        "WRONG   agents: cursor (server): /nowhere/codelens is not an executable program"
        in shown.out
    )
    assert cursor.read_text().count("/nowhere") == 1


def test_agents_are_left_out_where_that_is_asked_for(run: Run, cursor: Path) -> None:
    _wire(cursor)
    ran = run("doctor", "--no-agents", "--json")
    assert ran.code == 0
    assert _agents(ran.out) == []


def test_an_entry_that_is_switched_off_is_a_note(run: Run, cursor: Path) -> None:
    _wire(cursor, disabled=True)
    ran = run("doctor", "--json")
    assert ran.code == 0
    assert [one["state"] for one in _agents(ran.out)] == ["note"]


def test_without_agents_nothing_is_reported(run: Run, cursor: Path) -> None:
    ran = run("doctor", "--json")
    assert ran.code == 0
    assert _agents(ran.out) == []
