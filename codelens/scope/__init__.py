"""Which repository, worktree, branch and HEAD a question is about. The one package with pygit2."""
