"""Every kind of repository that ever broke a question. Entries are added, never removed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from corpus.texts import TEXTS
from gitrepo import GitRepo, git_environment
from harness_sizes import size_of

_HUGE = 3 * 1024**3
"""Bytes; sparse on disk."""
_ENDINGS = {"perl": "pl", "kotlin": "kt", "markdown": "md", "cmake": "cmake", "csharp": "cs"}

USUAL = ("search kindle", "status --all", "outline", "doctor")
"""Commands to run on each repository."""
_BRANCHES = ("search kindle", "conflicts", "diff", "history lamp.py#kindle")


class BrokenRepository(NamedTuple):
    """Builds a repository that once broke a question, and names the commands to run on it."""

    build: Callable[[GitRepo], None]
    commands: tuple[str, ...]
    most_bytes: int
    """Address space, less than the huge file; libraries take a large part of it."""


REPOSITORIES: dict[str, BrokenRepository] = {}
_Build = Callable[[GitRepo], None]


def _broken_for(*commands: str, most_bytes: int = 2 * 1024**3) -> Callable[[_Build], _Build]:
    def keep(build: _Build) -> _Build:
        name = build.__name__.strip("_").replace("_", " ")
        REPOSITORIES[name] = BrokenRepository(build, commands, most_bytes)
        return build

    return keep


_broken = _broken_for(*USUAL)


def _enlarged(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.truncate(path, _HUGE)


@_broken
def _huge_notes_on_a_worktree(repo: GitRepo) -> None:
    repo.git("worktree", "add", "-q", "-b", "side", str(repo.root.parent / "side"))
    for name in ("gitdir", "commondir", "HEAD"):
        _enlarged(repo.root / ".git" / "worktrees" / "side" / name)


@_broken
def _a_huge_head(repo: GitRepo) -> None:
    _enlarged(repo.root / ".git" / "HEAD")


@_broken
def _a_huge_config(repo: GitRepo) -> None:
    _enlarged(repo.root / ".git" / "config")


@_broken
def _a_pipe_for_a_head(repo: GitRepo) -> None:
    (repo.root / ".git" / "HEAD").unlink()
    os.mkfifo(repo.root / ".git" / "HEAD")


@_broken
def _a_pipe_for_an_ignore_file(repo: GitRepo) -> None:
    os.mkfifo(repo.root / ".gitignore")


@_broken
def _a_cut_index(repo: GitRepo) -> None:
    index = repo.root / ".git" / "index"
    index.write_bytes(index.read_bytes()[:-30])


@_broken
def _an_index_of_zeros(repo: GitRepo) -> None:
    (repo.root / ".git" / "index").write_bytes(bytes(4_000))


@_broken
def _a_git_file_that_leads_to_itself(repo: GitRepo) -> None:
    (repo.root / "inner").mkdir()
    (repo.root / "inner" / ".git").write_text("gitdir: .git\n")


@_broken
def _a_ref_that_is_a_folder_and_one_that_is_empty(repo: GitRepo) -> None:
    (repo.root / ".git" / "refs" / "heads" / "folder").mkdir()
    (repo.root / ".git" / "refs" / "heads" / "empty").write_bytes(b"")


@_broken
def _links_in_a_circle(repo: GitRepo) -> None:
    (repo.root / "round").symlink_to("round")
    (repo.root / "up").symlink_to("..")


@_broken
def _names_of_any_bytes(repo: GitRepo) -> None:
    for name in (b"\xff\xfe.py", b"a\nb.py", b"a:1.py", b"a#b.py", b"-rf.py", b" .py", b"%2e.py"):
        Path(os.fsdecode(os.path.join(os.fsencode(repo.root), name))).write_text("x = 1\n")


@_broken
def _a_path_that_is_longer_than_the_system_takes(repo: GitRepo) -> None:
    here = os.getcwd()
    try:
        os.chdir(repo.root)
        for _ in range(25):
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
        Path("deep.py").write_text("x = 1\n")
    finally:
        os.chdir(here)


@_broken
def _all_texts_of_the_corpus(repo: GitRepo) -> None:
    for number, (language, text) in enumerate(TEXTS.values()):
        cut = text[: size_of("CODELENS_CORPUS_TEXT_BYTES")]
        repo.write(f"texts/t{number}.{_ENDINGS.get(language, language)}", cut)


@_broken
def _many_ignore_patterns(repo: GitRepo) -> None:
    repo.write(".gitignore", "".join(f"**/a{n}*/**/b[0-9]?{n}\n" for n in range(5_000)))


@_broken
def _no_commit_yet(repo: GitRepo) -> None:
    repo.git("checkout", "-q", "--orphan", "new")


@_broken_for(*_BRANCHES)
def _a_huge_branch_and_a_branch_of_its_name(repo: GitRepo) -> None:
    _enlarged(repo.root / ".git" / "refs" / "heads" / "huge")
    (repo.root / ".git" / "refs" / "heads" / "alias").write_text("ref: refs/heads/huge\n")


@_broken_for(*_BRANCHES)
def _a_pipe_for_a_branch(repo: GitRepo) -> None:
    os.mkfifo(repo.root / ".git" / "refs" / "heads" / "pipe")


@_broken_for(
    "search --ref HEAD@{1} kindle", "search --ref huge~1 kindle", "search --ref away kindle"
)
def _huge_logs_and_a_huge_remote_head(repo: GitRepo) -> None:
    _enlarged(repo.root / ".git" / "logs" / "HEAD")
    _enlarged(repo.root / ".git" / "refs" / "heads" / "huge")
    _enlarged(repo.root / ".git" / "refs" / "remotes" / "away" / "HEAD")


@_broken_for(*_BRANCHES, "impact --diff HEAD~1", "diff HEAD~1", "status", "hook before-edit")
def _a_pipe_for_the_attributes_of_a_folder(repo: GitRepo) -> None:
    repo.commit("two", {"src/wick.py": "def wick():\n    return 1\n"})
    repo.git("worktree", "add", "-q", "-b", "side", str(repo.root.parent / "side"))
    repo.write("src/wick.py", "def wick():\n    return 2\n")
    for name in (".gitattributes", ".gitignore"):
        os.mkfifo(repo.root / "src" / name)


@_broken_for(*_BRANCHES)
def _a_pipe_for_a_commit_graph(repo: GitRepo) -> None:
    (repo.root / ".git" / "objects" / "info").mkdir(exist_ok=True)
    os.mkfifo(repo.root / ".git" / "objects" / "info" / "commit-graph")


@_broken_for(*_BRANCHES, "hook session-start")
def _a_huge_index_of_another_worktree(repo: GitRepo) -> None:
    repo.git("worktree", "add", "-q", "-b", "side", str(repo.root.parent / "side"))
    _enlarged(repo.root / ".git" / "worktrees" / "side" / "index")


@_broken_for(*_BRANCHES, "search --ref HEAD kindle", "hook before-edit", "hook session-start")
def _a_tracked_file_that_became_huge(repo: GitRepo) -> None:
    repo.commit("two", {"wick.py": "def wick():\n    return 1\n"})
    repo.git("worktree", "add", "-q", "-b", "side", str(repo.root.parent / "side"))
    _enlarged(repo.root / "wick.py")


@_broken_for(
    *(*_BRANCHES, "search --ref HEAD~1 kindle", "diff HEAD~1", "impact --diff HEAD~1"),
    most_bytes=700 * 1024**2,
)
def _a_commit_of_a_file_of_zeros(repo: GitRepo) -> None:
    """Gigabytes that git stores in a thousandth of that."""
    size = f"{size_of('CODELENS_ZEROS_MB')}M"
    zeros = subprocess.Popen(["head", "-c", size, "/dev/zero"], stdout=subprocess.PIPE)
    hashed = ["git", "-c", "core.bigFileThreshold=1m", "hash-object", "-w", "--stdin"]
    oid = subprocess.run(
        hashed, cwd=repo.root, env=git_environment(), stdin=zeros.stdout,
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    zeros.communicate()
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{oid},zeros.txt")
    repo.git("commit", "-qm", "zeros")
    repo.write("zeros.txt", "none\n")
    repo.git("add", "zeros.txt")
    repo.git("commit", "-qm", "none")
