"""Rules of Java, with those of Kotlin and C# shared in `classes`."""
