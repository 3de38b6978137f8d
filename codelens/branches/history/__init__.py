"""Since when a definition is what it is, and where it came from."""
