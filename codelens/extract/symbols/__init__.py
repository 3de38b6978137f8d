"""Finds the definitions and imports of a text: names, spans, kinds, visibility."""
