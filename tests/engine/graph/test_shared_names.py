"""The name sets behind a view's edges do not accumulate with the questions."""

from __future__ import annotations

from pathlib import Path

from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.current_view import ViewRequest
from codelens.engine.engine import Engine
from codelens.engine.graph import candidate_files


def test_sets_of_earlier_questions_are_released(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("one", {"a.py": "def f(): ...\nf()\n", "b.py": "from a import f\nf()\n"})
    with (
        Engine(Settings(home=tmp_path / "home")) as engine,
        engine.pool.view(ViewRequest(repo.root)) as view,
    ):
        cache = candidate_files.edge_cache_of(view)
        shared = 0
        for number in range(300):
            for path in (b"a.py", b"b.py"):
                new = cache.not_taken(path, {f"name{number}", "f"})
                assert f"name{number}" in new
                assert ("f" in new) is (number == 0)
                cache.take_named(path, new, ())
            shared += cache.named[b"a.py"] is cache.named[b"b.py"]
        assert shared > 250
        assert len(cache._shared) <= candidate_files._MOST_SHARED
        assert cache.knows(b"a.py", {"name0", "name299", "f"})
        assert not cache.knows(b"a.py", {"name300"})
