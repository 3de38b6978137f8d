"""The map of a repository: its most used files and definitions, in a number of tokens."""
