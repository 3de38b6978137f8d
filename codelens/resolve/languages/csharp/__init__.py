"""Rules of C#."""
