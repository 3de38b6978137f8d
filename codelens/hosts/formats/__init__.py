"""Edits of configuration files, with one module for each format."""
