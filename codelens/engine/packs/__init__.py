"""Packs: facts of commits as one file, for clones elsewhere."""
