"""Saved notes of people and agents, and the state of their handles in a view."""
