"""What people paste: stack traces, messages, declarations and locations."""
