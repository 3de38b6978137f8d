"""What names and expressions mean: scopes, members, annotations and results of calls."""
