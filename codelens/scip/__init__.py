"""Reads and writes SCIP, the format in which compilers say what each name means.

`scip.proto` is the schema of github.com/sourcegraph/scip at e1e47bf3 (Apache License 2.0);
`make scip-schema` generates `scip_pb2` from it. Nothing here knows views or the store.
"""
