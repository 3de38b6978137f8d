"""Handles, readable names of places in code: their grammar; to find and read what one names."""
