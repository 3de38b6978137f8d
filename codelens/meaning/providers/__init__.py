"""Vectors by embedding providers: off until somebody enables one for a repository."""
