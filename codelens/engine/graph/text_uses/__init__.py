"""Uses that texts tell and no edge does: names of templates, keys of settings."""
