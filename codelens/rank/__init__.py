"""Ranking: from a question to places in one view. Reads the store, never writes it."""
