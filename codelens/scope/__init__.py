"""Determines the repository, worktree, branch and HEAD of a question.

This is the only package that imports pygit2.
"""
