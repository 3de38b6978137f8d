"""Answers as text, JSON, Mermaid, Graphviz and HTML, within a number of tokens."""
