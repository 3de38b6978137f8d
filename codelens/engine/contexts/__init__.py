"""Questions about saved contexts."""
