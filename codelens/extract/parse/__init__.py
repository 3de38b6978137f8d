"""Parses texts within limits: grammars, captures, and repairs of broken texts."""
