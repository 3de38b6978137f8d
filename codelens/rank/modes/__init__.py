"""Searches for literal text, regular expressions and paths."""
