"""The examples of docs/branches.md match the commands' output."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo
from shop_repository import Run

PAGE = Path(__file__).parents[2] / "docs" / "branches.md"
LIB = """\
LIMIT = 10


def load(name):
    return open(name).read()


def save(name, text):
    with open(name, "w") as file:
        file.write(text)
"""
USE = """\
from lib import load, save


def first():
    save("a", load("b"))
"""
SECOND = """

def second():
    from lib import LIMIT

    return LIMIT
"""
WITH_ENCODING = LIB.replace("load(name)", "load(name, enc)").replace(
    "open(name).read", "open(name, encoding=enc).read"
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepo:
    repo = GitRepo.init(tmp_path / "here")
    repo.commit("one", {"lib.py": LIB, "use.py": USE})
    monkeypatch.chdir(repo.root)
    return repo


@pytest.fixture
def there(here: GitRepo, tmp_path: Path) -> GitRepo:
    return here.worktree(tmp_path / "other", branch="other")


def shown(text: str, there: GitRepo | None = None, tab: str = "\n          ") -> str:
    """Output as on the page: indented, long lines as on a terminal, no names of this run."""
    if there is not None:
        head = there.text("rev-parse", "--short=7", "HEAD").strip()
        text = text.replace(str(there.root), "/work/other").replace(head, "5b489eb")
    lines = text.replace("\t", tab).rstrip().split("\n")
    return "\n".join("    " + line for line in lines)


def test_the_example_of_a_diff(here: GitRepo, run: Run) -> None:
    here.write("lib.py", WITH_ENCODING.replace("def save", "def store"))
    here.write("more.py", "import os\n\n\ndef t():\n    return os.sep\n")
    assert shown(run("diff").out) in PAGE.read_text(encoding="utf-8")


def test_the_example_of_conflicts(here: GitRepo, there: GitRepo, run: Run) -> None:
    here.write("lib.py", WITH_ENCODING.replace("LIMIT = 10", "LIMIT = 20"))
    there.write("extra.py", "from lib import load\n\n\ndef third():\n    return load('c')\n")
    there.write("use.py", USE + SECOND)
    assert shown(run("conflicts").out, there) in PAGE.read_text(encoding="utf-8")


def test_the_example_of_who_is_changing_a_file(here: GitRepo, there: GitRepo, run: Run) -> None:
    there.write("lib.py", LIB.replace("save(name, text)", "save(name, text, mode)"))
    listed = run("conflicts", "--changing", "lib.py").out
    assert shown(listed, there, tab="  ") in PAGE.read_text(encoding="utf-8")
