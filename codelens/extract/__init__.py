"""One text to facts: symbols, references, imports, chunks and terms. Owns tree-sitter."""
