"""Determines the repository, worktree, branch and HEAD of a question. Alone imports pygit2."""
