"""Saved contexts, sessions, and the notes that accompany answers."""
