-- What resolving the names of a content takes (store/facts/resolution_facts.py): scopes, bindings and receivers,
-- and a digest of what other files can see of it.
ALTER TABLE contents ADD COLUMN flow BLOB NOT NULL DEFAULT x'';
ALTER TABLE contents ADD COLUMN surface INTEGER NOT NULL DEFAULT 0;

-- Edges that begin in a file, with what they stand on; see resolve/facts/edge_rows.py.
CREATE TABLE file_edges (
    path        INTEGER NOT NULL REFERENCES paths (id) ON DELETE CASCADE,
    content     INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    version     INTEGER NOT NULL,                          -- of the resolver
    data        BLOB    NOT NULL,
    PRIMARY KEY (path, content)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_edges_by_content ON file_edges (content);
