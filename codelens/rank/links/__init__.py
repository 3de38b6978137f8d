"""Links between files, and their PageRank."""
