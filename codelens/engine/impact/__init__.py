"""Questions about what a change can break."""
