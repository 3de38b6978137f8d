"""Parsing within limits: grammars, captures, and texts that are broken."""
