"""The resolution rules that class-based languages share: Java, Kotlin, C#, PHP, C++."""
