"""Answers about the ranking by meaning, as text and JSON."""
