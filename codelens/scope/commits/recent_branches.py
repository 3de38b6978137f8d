"""Local branches by when their last commit was made."""

from __future__ import annotations

import pygit2

from codelens.scope.repository import Repository


def recent_branches(repository: Repository, since_s: int) -> list[str]:
    """Names of local branches with a commit since then, newest first; broken ones are left out."""
    git = repository.git
    dated_names: list[tuple[int, str]] = []
    for name in git.raw_listall_branches(pygit2.enums.BranchType.LOCAL):
        try:
            text = name.decode()
            commit = git.lookup_reference(f"refs/heads/{text}").peel(pygit2.Commit)
        except (KeyError, ValueError, UnicodeError, pygit2.GitError):
            continue
        if commit.commit_time >= since_s:
            dated_names.append((-commit.commit_time, text))
    return [name for _, name in sorted(dated_names)]
