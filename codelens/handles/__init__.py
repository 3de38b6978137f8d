"""Handles: readable names of places in code. Their grammar; to find, follow and read what one names."""
