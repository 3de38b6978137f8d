"""Looks at the disk: stat signatures, reading, hashing, and changes since the last look."""
