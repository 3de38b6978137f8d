"""Local branches by when their last commit was made."""

from __future__ import annotations

import pygit2

from codelens.errors import UnsupportedRepository
from codelens.scope.commits.ref_names import BRANCHES, ref_names
from codelens.scope.repository import Repository
from codelens.scope.special_files import refuse_special_ref


def recent_branches(repository: Repository, since_s: int) -> tuple[list[str], list[str]]:
    """Names of local branches with a commit since then, newest first, and of those without one.

    Broken ones are left out.
    """
    git, common_dir = repository.git, repository.common_dir
    dated_names: list[tuple[int, str]] = []
    # libgit2's own list reads each file whole, also one of 3 GB, and waits at a pipe.
    for name in ref_names(common_dir, (BRANCHES,)):
        try:
            refuse_special_ref(repository.place.root, common_dir, BRANCHES + name)
            commit = git.lookup_reference(BRANCHES + name).peel(pygit2.Commit)
        except (KeyError, ValueError, UnicodeError, pygit2.GitError, UnsupportedRepository):
            continue
        dated_names.append((-commit.commit_time, name))
    dated_names.sort()
    recent = [name for time, name in dated_names if -time >= since_s]
    return recent, [name for time, name in dated_names if -time < since_s]
