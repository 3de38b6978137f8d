"""Compares branches by definitions: differences, history, and future collisions."""
