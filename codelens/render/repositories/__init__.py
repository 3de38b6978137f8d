"""Answers about several repositories, as text and JSON."""
