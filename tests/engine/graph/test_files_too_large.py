"""Files that are too large to be read may use anything: answers about users say so."""

from __future__ import annotations

from pathlib import Path

from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine

SMALL = "int helper(int x) { return x; }\nint main(void) { return helper(1); }\n"


def test_a_file_of_code_that_was_not_read_is_named(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    large = "".join(f"int fn_{at}(void) {{ return helper({at}); }}\n" for at in range(100))
    repo.commit("one", {"main.c": SMALL, "made.c": large, "notes.txt": large})
    note = "at least: 1 file that is larger than `max_file_bytes` was not searched (made.c)"
    with Engine(Settings(home=tmp_path / "home", max_file_bytes=2_000)) as engine:
        answer = engine.related("helper", path=repo.root)
        assert dict(answer.totals)["callers"] == 1
        assert answer.notes[-1] == note
        impact = engine.impact(["helper"], path=repo.root)
        assert note in impact.notes and impact.at_least
    with Engine(Settings(home=tmp_path / "other")) as engine:
        answer = engine.related("helper", path=repo.root)
        assert not any("max_file_bytes" in note for note in answer.notes)
