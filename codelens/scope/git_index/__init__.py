"""Readers of git's index file."""
