"""Ranks places in one view for a question. Reads the store, never writes it."""
