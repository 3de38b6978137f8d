"""Answers of codelens: frozen values, below rendering and the engine."""
