"""Questions about branches, commits and worktrees: what differs, since when, what will collide."""
