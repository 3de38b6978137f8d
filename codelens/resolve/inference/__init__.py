"""Infers what names and expressions refer to: scopes, members, annotations and call results."""
