"""Compares branches, commits and worktrees: differences, history and conflicts."""
