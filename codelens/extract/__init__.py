"""Extracts the facts of one text: symbols, references, imports, chunks, terms. Owns tree-sitter."""
