"""Resolves the names in facts to definitions within one view.

The package does no I/O: callers pass in paths, facts and the contents of a few settings files.
`codelens.resolve.imports` is the entry point for imports.
"""
