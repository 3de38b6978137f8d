"""Calls of tools: which worktree and session they are of, how many there may be, their answers."""
