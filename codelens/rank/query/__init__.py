"""Analyses queries."""
