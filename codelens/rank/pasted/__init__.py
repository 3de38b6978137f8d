"""Parses pasted text: stack traces, messages, declarations and locations."""
