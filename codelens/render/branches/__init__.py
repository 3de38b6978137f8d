"""Answers about branches as text, JSON and Markdown."""
