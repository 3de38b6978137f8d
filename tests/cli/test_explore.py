"""`codelens explore`: code in a pipe, and as JSON."""

from __future__ import annotations

import pytest
from auth_files import FILES
from gitrepo import GitRepo


@pytest.fixture
def committed() -> dict[str, str]:
    return FILES


def test_explore_prints_the_code_with_its_lines(repo: GitRepo, run) -> None:
    ran = run("explore", "validate", "the", "token", "of", "a", "session")
    assert ran.code == 0
    assert ran.out.splitlines()[0] == "intent explore: callees"
    assert "4:    def validate(self, token):" in ran.out.splitlines()
    assert ran.err.splitlines()[-1].startswith("fresh · main@")


def test_explore_as_json_has_the_documented_keys(repo: GitRepo, run) -> None:
    found = run("explore", "fix", "validate", "--json").json
    assert set(found) >= {
        "receipt", "task", "intent", "intent_words", "results", "named", "tests", "contexts",
        "notes",
    }  # fmt: skip
    assert set(found["results"][0]) >= {
        "handle", "path", "start_line", "end_line", "symbol", "kind", "part", "why", "lines",
    }  # fmt: skip
    assert found["intent"] == "debug" and found["intent_words"] == ["fix"]


def test_explore_refuses_impossible_budgets(repo: GitRepo, run) -> None:
    ran = run("explore", "validate", "--max-tokens", "50")
    assert ran.code == 2 and "between 200 and 100,000" in ran.err
    assert run("explore", "zzqqx vvwwk").code == 1
