"""Candidates, features and the one formula."""
