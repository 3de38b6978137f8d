"""Processes that extract: the pool, what runs in each, and what guards them."""
