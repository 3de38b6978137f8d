"""Reads the code in templates: markup becomes a script, whose facts are mapped back."""
