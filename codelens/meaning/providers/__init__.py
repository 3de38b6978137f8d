"""Vectors by embedding providers: off until a user enables one for a repository."""
