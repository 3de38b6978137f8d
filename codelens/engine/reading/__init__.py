"""Questions that find and read code: search, expand, outline, status."""
