"""Finds and reads code: search, expand, outline, source, refs and status."""
