"""Counts of calls, on this machine alone."""
