"""Commits: their trees, what differs between them, walks along history, refs."""
