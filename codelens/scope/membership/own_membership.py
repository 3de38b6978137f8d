"""The rules of `.codelensignore` and its kin that hold for a scope."""

from __future__ import annotations

import os

from codelens.config import Settings
from codelens.errors import ReadError
from codelens.scope.commits.commit_tree import file_at
from codelens.scope.ignore.ignore_rules import read_in_tree
from codelens.scope.ignore.own_rules import OWN_NAME, OwnRules, rules_of_user, source_of_root
from codelens.scope.repository import Repository, Scope
from codelens.types import RelPath


def own_rules(repository: Repository, scope: Scope, settings: Settings) -> OwnRules:
    """The rules for a worktree or folder as it stands, or for the commit of a ref.

    Raises:
        ReadError: a file with rules is there and cannot be read.
    """
    sources = rules_of_user(settings.home, settings.ignore)
    sources.append(source_of_root(_at_root(repository, scope)))
    fold = (
        any(source.data for source in sources)
        and repository.is_git
        and repository.ignore_settings().ignore_case
    )
    return OwnRules(sources, fold=fold)


def user_digest(settings: Settings) -> str:
    """Changes when the rules outside of all repositories do; empty where there are none.

    Raises:
        ReadError: the file in the home folder cannot be read.
    """
    return OwnRules(rules_of_user(settings.home, settings.ignore)).digest


def _at_root(repository: Repository, scope: Scope) -> bytes:
    if scope.kind != "ref":
        return read_in_tree(os.path.join(os.fsencode(scope.root), OWN_NAME)) or b""
    try:
        oid = file_at(repository, scope.head, RelPath(OWN_NAME))
        return repository.read_blob(oid) if oid else b""
    except ReadError:
        # Not in this clone: nobody can tell what it says.
        return b""
