"""Meaning by vectors: by the word table of codelens (docs/meaning.md), or by providers."""
