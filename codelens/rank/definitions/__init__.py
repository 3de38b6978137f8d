"""Definitions as what is ranked: all of the best files, each with a score of its own."""
