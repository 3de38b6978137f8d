"""Takes over what compilers say (SCIP), compares it with our edges, and writes our own as SCIP."""
