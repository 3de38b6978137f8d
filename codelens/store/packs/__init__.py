"""Facts by content as one file, to be merged into the index of any clone."""
