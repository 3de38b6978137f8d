"""Answers about the graph as text, JSON, Mermaid and HTML."""
