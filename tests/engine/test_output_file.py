"""A file that the user named appears whole or not at all, and a device or pipe stays what it is."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.engine.output_file import output_file
from codelens.errors import SettingError


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    repo = GitRepo.init(tmp_path / "shop")
    repo.commit("one", {"app.py": "def run():\n    pass\n"})
    return repo


@pytest.mark.parametrize("command", ["pack", "scip_export"])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path, repo: GitRepo, command: str) -> None:
    pipe, plain = tmp_path / "pipe", tmp_path / "plain"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    with Engine(Settings(home=tmp_path / "home")) as engine:
        getattr(engine, command)(plain, path=repo.root)
        getattr(engine, command)(pipe, path=repo.root)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join(30)
    assert read == [plain.read_bytes()]


def test_a_link_is_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"before")
    link.symlink_to(target)
    with output_file(link, "pack") as out:
        out.write(b"after")
    assert link.is_symlink()
    assert target.read_bytes() == b"after"


@pytest.mark.parametrize("name", ["", "folder", "file/inner", "missing/inner"])
def test_what_cannot_be_written_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    with (
        pytest.raises(SettingError, match="cannot write the pack"),
        output_file(Path(name), "pack"),
    ):
        pass


def test_a_failure_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"before")
    with pytest.raises(ValueError, match="stop"), output_file(file, "pack") as out:
        out.write(b"after")
        raise ValueError("stop")
    assert file.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["file"]


def test_what_cannot_be_closed_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(SettingError), output_file(tmp_path / "file", "pack") as out:
        out.write(b"in the buffer")
        os.close(out.fileno())
    assert os.listdir(tmp_path) == []


def test_a_draft_of_a_killed_process_goes_and_a_new_one_stays(tmp_path: Path) -> None:
    file, drafts = tmp_path / "file", tmp_path.glob(".file.*")
    with output_file(file, "pack") as out:
        out.write(b"first")
        (draft,) = drafts
        left = draft.with_name(f"{draft.name}1")
        left.write_bytes(b"half")
        os.utime(left, (1, 1))
        with output_file(file, "pack") as other:
            other.write(b"second")
    assert file.read_bytes() == b"first"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
