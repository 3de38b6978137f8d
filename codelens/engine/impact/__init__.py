"""What a change can break, and which tests to run after it."""
