"""Brings a view up to date with its worktree or commit, within a time budget."""
