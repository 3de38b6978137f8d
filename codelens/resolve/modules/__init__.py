"""Which files an import names, one module a family of languages."""
