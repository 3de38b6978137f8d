"""The definitions of a text: what they are called, where they stand, and what imports name."""
