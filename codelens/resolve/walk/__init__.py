"""Walks over edges: relations, reach and paths between definitions."""
