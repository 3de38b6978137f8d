"""Candidates, features and the scoring formula."""
