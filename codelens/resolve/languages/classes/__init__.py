"""Rules that Java, C# and PHP share."""
