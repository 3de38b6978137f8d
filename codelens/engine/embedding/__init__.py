"""Vectors by a provider for the texts of a view: consent, cost, sync, queries and reranking."""
