-- Edges of a text as several states of the view gave them, numbered from the oldest on: a branch and
-- the commit that it is compared with share most texts, and each took away what the other had kept.
-- What is there can be resolved again, so it is not taken over.

DROP TABLE file_edges;
CREATE TABLE file_edges (
    path        INTEGER NOT NULL REFERENCES paths (id) ON DELETE CASCADE,
    content     INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    number      INTEGER NOT NULL,
    version     INTEGER NOT NULL,                          -- of the resolver
    state       INTEGER NOT NULL,                          -- digest of all that the view's files show
    data        BLOB    NOT NULL,
    PRIMARY KEY (path, content, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_edges_by_content ON file_edges (content);

DROP TABLE edge_parts;
CREATE TABLE edge_parts (
    path        INTEGER NOT NULL REFERENCES paths (id) ON DELETE CASCADE,
    content     INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    names       INTEGER NOT NULL REFERENCES name_sets (id) ON DELETE CASCADE,
    number      INTEGER NOT NULL,
    version     INTEGER NOT NULL,                          -- of the resolver
    data        BLOB    NOT NULL,
    PRIMARY KEY (path, content, names, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX edge_parts_by_content ON edge_parts (content);
CREATE INDEX edge_parts_by_names ON edge_parts (names);
DELETE FROM name_sets;

-- What indexes over all files of a language take from each text: to read every text anew cost each
-- process more than most answers.
CREATE TABLE surveys (
    content     INTEGER PRIMARY KEY REFERENCES contents (id) ON DELETE CASCADE,
    version     INTEGER NOT NULL,                          -- of the resolver
    data        TEXT    NOT NULL                           -- JSON; what is in it the language says
) STRICT;
