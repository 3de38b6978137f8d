"""User data stored next to the index: saved contexts, pins and usage."""
