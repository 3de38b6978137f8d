"""The index as a database file: opening, locking, damage."""
