"""Rules of Kotlin."""
