"""What is told of a plain git repository without libgit2."""
