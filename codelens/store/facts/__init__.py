"""Facts by content."""
