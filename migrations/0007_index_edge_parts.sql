-- Edges of which the uses of some names alone were resolved: a question that many files may answer
-- goes on where the last process stopped. One set of names is asked of many files.

CREATE TABLE name_sets (
    id          INTEGER PRIMARY KEY,
    names       TEXT    NOT NULL UNIQUE                    -- in order, a line each
) STRICT;

CREATE TABLE edge_parts (
    path        INTEGER NOT NULL REFERENCES paths (id) ON DELETE CASCADE,
    content     INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    names       INTEGER NOT NULL REFERENCES name_sets (id) ON DELETE CASCADE,
    version     INTEGER NOT NULL,                          -- of the resolver
    data        BLOB    NOT NULL,
    PRIMARY KEY (path, content, names)
) STRICT, WITHOUT ROWID;
CREATE INDEX edge_parts_by_content ON edge_parts (content);
CREATE INDEX edge_parts_by_names ON edge_parts (names);
