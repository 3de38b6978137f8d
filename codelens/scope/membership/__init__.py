"""Which files belong to a worktree."""
