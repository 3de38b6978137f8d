"""Takes over what compilers say (SCIP), compares it with our edges, and writes ours as SCIP."""
