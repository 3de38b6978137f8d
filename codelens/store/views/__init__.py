"""Views: which path has which content."""
