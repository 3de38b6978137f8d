"""What resolving reads: the files of a view, their facts, and the edges that are known already."""
