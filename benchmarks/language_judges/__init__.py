"""Judges of languages that nobody of codelens wrote: Universal Ctags and type checkers."""
