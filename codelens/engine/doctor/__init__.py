"""Checks of an installation, and repairs."""
