"""Renders answers as text, JSON, Mermaid, Graphviz and HTML, within a token limit."""
