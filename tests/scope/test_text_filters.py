"""The predicted stored bytes of a file equal those that git would store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.scope.repository import Repository
from codelens.scope.stored_files import StoredFiles

DATA = b"one\r\ntwo $Id: abc $\r\nthree\n"
WITH_ZERO = b"one\r\n\0\r\ntwo\r\n"
FILES = (b"a.txt", b"deep/er/b.txt", b"c.bin")

Arrange = Callable[[GitRepo], None]


def of_info(repo: GitRepo) -> None:
    repo.write(".git/info/attributes", "*.txt text ident\n")


def of_the_user(repo: GitRepo) -> None:
    rules = repo.root.parent / "attributes"
    rules.write_text("*.txt text\n")
    repo.git("config", "core.attributesFile", str(rules))


def of_a_folder(repo: GitRepo) -> None:
    repo.write("deep/.gitattributes", "*.txt text=auto ident\n")


def of_the_index_alone(repo: GitRepo) -> None:
    repo.write(".gitattributes", "* text=auto\n")
    repo.git("add", "-A")
    (repo.root / ".gitattributes").unlink()


def of_a_setting(value: str) -> Arrange:
    def arrange(repo: GitRepo) -> None:
        repo.git("config", "core.autocrlf", value)

    return arrange


def of_nobody(repo: GitRepo) -> None:
    repo.write("sub/.gitattributes.txt", "*.txt text\n")


@pytest.mark.parametrize(
    "arrange",
    [
        of_info, of_the_user, of_a_folder, of_the_index_alone, of_nobody,
        of_a_setting("true"), of_a_setting("input"), of_a_setting("false"), of_a_setting("no"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("data", [DATA, WITH_ZERO])
def test_a_text_is_stored_as_git_stores_it(tmp_path: Path, arrange: Arrange, data: bytes) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("one", {"readme": "text\n"})
    arrange(repo)
    at = Repository.at(repo.root)
    stored = StoredFiles(at, at.scope())
    for path in FILES:
        file = repo.root / path.decode()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        predicted = stored.stored(path, data)
        repo.git("add", path)
        assert predicted == repo.git("cat-file", "blob", b":" + path), path
