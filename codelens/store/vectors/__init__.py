"""Vectors by embedding providers: a database of their own for each repository."""
