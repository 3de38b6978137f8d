"""Independent judges of the extracted facts: Universal Ctags and type checkers."""
