"""Which worktree a call is about, as editors and agents name it, or fail to."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import forked_servers
import pytest
from gitrepo import GitRepo
from mcp_lines import HELLO, INITIALIZED, Lines, call


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.fixture
def env(tmp_path: Path, home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "CODELENS_HOME": str(tmp_path / "index"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }


@pytest.fixture
def main(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "work" / "app")
    made.commit("first", {"src/auth.py": "def login(name):\n    return name\n"})
    return made


@pytest.fixture
def second(tmp_path: Path, main: GitRepo) -> GitRepo:
    made = main.worktree(tmp_path / "work" / "app-second", branch="second")
    made.write("src/auth.py", "def enter(name):\n    return name\n")
    return made


class Editor(Lines):
    """An editor that starts its server in the home folder, and may know its folders."""

    def __init__(self, env: dict[str, str], cwd: Path, *args: str, roots: Iterable[Path] | None):
        super().__init__(env, cwd, *args, start=forked_servers.command())
        self._roots = roots
        able = {} if roots is None else {"roots": {"listChanged": True}}
        self.ask(0, "initialize", {**HELLO, "capabilities": able})
        self.send(INITIALIZED)

    def where(self, number: int, **arguments: object) -> str:
        """The text of `cl_current`; answers a question of the server's on the way."""
        meta = {"_meta": arguments.pop("_meta")} if "_meta" in arguments else {}
        message = json.loads(call(number, "cl_current", **arguments))
        message["params"].update(meta)
        self.send(json.dumps(message).encode())
        while (said := self.next()).get("method") == "roots/list":
            roots = [{"uri": root.as_uri()} for root in self._roots or ()]
            reply = {"jsonrpc": "2.0", "id": said["id"], "result": {"roots": roots}}
            self.send(json.dumps(reply).encode())
        return said["result"]["content"][0]["text"]


@pytest.fixture
def editor(env: dict[str, str], home: Path) -> Iterator[object]:
    opened: list[Editor] = []

    def open_(*args: str, roots: Iterable[Path] | None = None, cwd: Path = home, **more: str):
        opened.append(Editor({**env, **more}, cwd, *args, roots=roots))
        return opened[-1]

    yield open_
    for one in opened:
        assert one.end() == (0, b"")


def at(root: Path) -> str:
    return f"where: {root} "


def test_an_expanded_root_is_the_worktree(editor, main: GitRepo, second: GitRepo) -> None:
    assert at(second.root) in editor("--root", str(second.root)).where(1)
    assert at(main.root) in editor("--root", str(main.root / "src"), roots=[second.root]).where(1)


def test_a_root_left_unexpanded_is_passed_over_for_the_clients(
    editor, main: GitRepo, second: GitRepo
) -> None:
    opened = editor("--root", "${workspaceFolder}", roots=[second.root])
    assert at(second.root) in opened.where(1)
    assert at(main.root) in opened.where(2, path=str(main.root / "src"))


def test_several_roots_are_a_choice_that_the_server_does_not_make(
    editor, main: GitRepo, second: GitRepo
) -> None:
    text = editor(roots=[main.root, second.root]).where(1)
    assert "cannot determine which worktree is meant" in text
    assert str(main.root) in text and str(second.root) in text
    assert "pass `path`" in text


def test_several_roots_of_one_worktree_are_that_worktree(editor, main: GitRepo) -> None:
    assert at(main.root) in editor(roots=[main.root, main.root / "src"]).where(1)


def test_among_several_roots_the_servers_own_is_selected(
    editor, main: GitRepo, second: GitRepo
) -> None:
    opened = editor(roots=[main.root, second.root], cwd=second.root / "src")
    assert at(second.root) in opened.where(1)


@pytest.mark.parametrize("roots", [None, []], ids=["cannot tell", "has none"])
def test_without_any_hint_a_server_in_the_home_folder_refuses(
    editor, home: Path, roots: list[Path] | None
) -> None:
    text = editor("--root", "${workspaceFolder}", roots=roots).where(1)
    assert "--root: ${workspaceFolder} does not exist" in text
    assert f"the working directory: {home} is a home folder" in text
    assert "pass `path`" in text


def test_an_ambiguous_call_lists_the_worktrees_asked_about_before(
    editor, main: GitRepo, second: GitRepo
) -> None:
    opened = editor()
    assert str(main.root) not in opened.where(1)
    opened.where(2, path=str(main.root))
    opened.where(3, path=str(second.root))
    text = opened.where(4)
    assert str(main.root) in text and str(second.root) in text
    assert at(second.root) not in text


def test_a_server_whose_folder_was_deleted_asks_for_a_path(
    editor, main: GitRepo, tmp_path: Path
) -> None:
    folder = tmp_path / "work" / "gone"
    folder.mkdir()
    opened = editor(cwd=folder)
    folder.rmdir()
    assert "the working directory: it was deleted" in opened.where(1)
    assert at(main.root) in opened.where(2, path=str(main.root))


def test_a_root_that_is_the_home_folder_is_not_taken(editor, home: Path, main: GitRepo) -> None:
    assert "is a home folder" in editor(roots=[home]).where(1)
    assert at(main.root) in editor(roots=[home, main.root]).where(1)


def test_the_workspace_of_codex_is_taken_at_each_call(
    editor, main: GitRepo, second: GitRepo
) -> None:
    opened = editor()
    for number, one in enumerate((main, second, main), 1):
        turn = {"workspaces": {str(one.root): {"has_changes": False}}}
        text = opened.where(number, _meta={"x-codex-turn-metadata": turn})
        assert at(one.root) in text
    both = {"workspaces": {str(main.root): {}, str(second.root): {}}}
    text = opened.where(9, _meta={"x-codex-turn-metadata": both})
    assert "the workspace of Codex: several worktrees" in text


@pytest.mark.parametrize("odd", [None, "x", {"workspaces": 1}, {"workspaces": {"/no/such": {}}}])
def test_odd_metadata_is_passed_over(editor, main: GitRepo, odd: object) -> None:
    opened = editor(cwd=main.root)
    assert at(main.root) in opened.where(1, _meta={"x-codex-turn-metadata": odd})


def test_the_hosts_variable_comes_before_the_clients_roots(
    editor, main: GitRepo, second: GitRepo
) -> None:
    opened = editor(roots=[main.root], CLAUDE_PROJECT_DIR=str(second.root))
    assert at(second.root) in opened.where(1)


def test_a_path_by_a_link_out_of_the_worktree_is_refused(
    editor, main: GitRepo, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    os.symlink(tmp_path / "outside", main.path("out"))
    said = editor().where(1, path=str(main.root / "out"))
    link = f"leaves {main.root} through the link {main.path('out')} to {tmp_path / 'outside'}"
    assert link in said
    assert said.endswith(f"inside the one: {main.root}, {tmp_path / 'outside'}")


def test_a_path_by_a_link_to_the_worktree_that_is_served_is_taken(
    editor, main: GitRepo, second: GitRepo
) -> None:
    os.symlink(second.root, main.path("to-second"))
    path = str(main.path("to-second") / "src")
    assert at(second.root) in editor("--root", str(second.root)).where(1, path=path)
    assert at(second.root) in editor(CLAUDE_PROJECT_DIR=str(second.root)).where(1, path=path)
