"""Edits of configuration files, one module a format."""
