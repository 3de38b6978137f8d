"""Rules of Go."""
