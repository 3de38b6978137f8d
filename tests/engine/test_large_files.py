"""Texts too large to be read: lists of all matches count those files."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine

FILES = {
    "small.py": "needle = 1\n",
    "large.py": "needle = 2\n" + "# more\n" * 100,
    "sub/large.csv": "1,needle\n" * 100,
    "large.png": b"\x89PNG\r\n\0" * 200,
}


@pytest.mark.parametrize("mode", ["text", "regex"])
@pytest.mark.parametrize("query", ["needle", "absent", "needle|(x|xx)+z"])
def test_files_too_large_to_be_read_are_counted(
    repository: GitRepo, home: Path, mode: str, query: str
) -> None:
    with Engine(Settings(home=home, max_file_bytes=500)) as engine:

        def reported(glob: str = "**", limit: int = 10) -> list[str]:
            answer = engine.search(
                query, path=repository.root, mode=mode, globs=[glob], limit=limit
            )
            return [note for note in answer.notes if note.startswith("not looked at")]

        not_read = "that are larger than `max_file_bytes`"
        assert reported() == [f"not looked at: 2 files {not_read} (large.py, sub/large.csv)"]
        assert reported("*.py") == [
            "not looked at: 1 file that is larger than `max_file_bytes` (large.py)"
        ]
        assert reported("small.*") == []
        assert reported(limit=1) == [] or query != "needle"
