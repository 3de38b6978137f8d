"""Who calls a definition by more than the edges that end at it."""
