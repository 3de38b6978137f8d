"""`pack` and `unpack` as typed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from forked_commands import codelens_text
from gitrepo import GitRepo

COMMAND = [sys.executable, "-P", "-m", "codelens"]


def run(folder: Path, home: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = codelens_text(*words, cwd=folder, home=home)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_a_pack_goes_from_one_clone_to_another(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("first", {"src/a.py": "def lantern():\n    return 1\n", "b.md": "# Lamps\n"})
    clone = GitRepo.clone(repo.root, tmp_path / "clone")
    clone.write("c.py", "def more(): ...\n")
    pack = tmp_path / "shop.pack"
    output = run(repo.root, tmp_path / "one", "pack", "-o", str(pack)).stdout
    assert output == f"{pack}: 2 texts of {repo.head()[:12]}, {pack.stat().st_size:,} bytes\n"
    output = run(clone.root, tmp_path / "two", "unpack", str(pack)).stdout
    assert output == f"{pack}: 2 texts, 2 merged, 2 compared\n3 files checked, 1 parsed here\n"
    again = run(clone.root, tmp_path / "two", "unpack", str(pack), "--json").stdout
    assert {"contents": 2, "merged": 0, "checked": 3}.items() <= json.loads(again).items()
    packed = run(repo.root, tmp_path / "one", "pack", "-o", str(pack), "--json").stdout
    assert json.loads(packed)["commits"] == [repo.head()]


def test_a_bad_pack_is_reported_in_one_line(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("first", {"src/a.py": "def lantern():\n    return 1\n"})
    bad = tmp_path / "bad.pack"
    bad.write_bytes(b"codelens pack\n")
    output = run(repo.root, tmp_path / "home", "unpack", str(bad), code=2).stderr
    assert len(output.splitlines()) == 1
    assert "it is cut short; make or fetch it again, or continue without it" in output
