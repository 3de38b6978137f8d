"""Handles, readable names of places in code: their grammar, lookup and reading."""
