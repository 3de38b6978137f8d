"""From the names in facts to what they mean inside one view.

Pure: paths, facts and the contents of a few settings files are handed in; nothing here reads a
file or the store by itself. `codelens.resolve.imports` has the entry for imports.
"""
