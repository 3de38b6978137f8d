"""Questions about who uses what."""
