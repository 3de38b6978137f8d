"""The rules of each language: its names, its types and its overloads."""
