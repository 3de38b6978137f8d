"""git's ignore rules."""
