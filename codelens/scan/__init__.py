"""The disk as it is: stat signatures, reading, hashing, and what changed since the last look."""
