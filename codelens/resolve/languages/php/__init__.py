"""Rules of PHP."""
