"""Sessions and their recovery as text and JSON."""
