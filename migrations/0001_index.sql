-- The rebuildable index of one repository: facts by content, views by branch.

-- One extraction of one distinct text in one language by one version of the extractor.
-- AUTOINCREMENT: an id is never used again, so postings of a removed content stay harmless.
CREATE TABLE contents (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    hash        BLOB    NOT NULL,
    language    TEXT    NOT NULL,
    version     INTEGER NOT NULL,
    tier        INTEGER NOT NULL CHECK (tier IN (0, 1)),   -- 0 text only, 1 full
    size_bytes  INTEGER NOT NULL,
    lines       INTEGER NOT NULL,
    outcome     TEXT    NOT NULL,
    generated   INTEGER NOT NULL,
    chunk_count INTEGER NOT NULL,
    body_terms  INTEGER NOT NULL,
    name_terms  INTEGER NOT NULL,
    doc_terms   INTEGER NOT NULL,
    chunks      BLOB    NOT NULL,                          -- 8 uint32 a chunk, see store/facts/contents.py
    refs        BLOB    NOT NULL,
    imports     BLOB    NOT NULL,
    UNIQUE (hash, language, version, tier)
) STRICT;

CREATE TABLE symbols (
    content     INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    ordinal     INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    key         TEXT    NOT NULL,                          -- name without its convention
    qualified   TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    signature   TEXT    NOT NULL,
    doc         TEXT    NOT NULL,
    exported    INTEGER NOT NULL,
    start_line  INTEGER NOT NULL,
    end_line    INTEGER NOT NULL,
    name_line   INTEGER NOT NULL,
    start_byte  INTEGER NOT NULL,
    end_byte    INTEGER NOT NULL,
    parent      INTEGER NOT NULL,
    PRIMARY KEY (content, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX symbols_by_key ON symbols (key);

-- Raw bytes of a git blob -> their hash. True always: an object id names bytes.
CREATE TABLE git_blobs (
    oid         BLOB    NOT NULL PRIMARY KEY,
    hash        BLOB    NOT NULL,
    size_bytes  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Postings, written a batch of contents at a time; layouts in store/facts/postings.py.
CREATE TABLE segments (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    doc_count   INTEGER NOT NULL,
    docs        BLOB    NOT NULL
) STRICT;

CREATE TABLE postings (
    segment     INTEGER NOT NULL REFERENCES segments (id) ON DELETE CASCADE,
    term        TEXT    NOT NULL,
    data        BLOB    NOT NULL,
    PRIMARY KEY (segment, term)
) STRICT, WITHOUT ROWID;

-- What follows from the text of a path alone.
CREATE TABLE paths (
    id          INTEGER PRIMARY KEY,
    path        BLOB    NOT NULL UNIQUE,
    stem        TEXT    NOT NULL,                          -- terms, space between
    folders     TEXT    NOT NULL,
    role        TEXT    NOT NULL                           -- '', test, example, vendored, generated, compat, prose
) STRICT;

CREATE TABLE path_terms (
    term        TEXT    NOT NULL,
    path        INTEGER NOT NULL REFERENCES paths (id) ON DELETE CASCADE,
    PRIMARY KEY (term, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE views (
    id            INTEGER PRIMARY KEY,
    scope         TEXT    NOT NULL UNIQUE,                 -- worktree and branch, or a commit
    kind          TEXT    NOT NULL CHECK (kind IN ('worktree', 'folder', 'ref')),
    worktree      TEXT    NOT NULL,
    branch        TEXT    NOT NULL,
    head          TEXT    NOT NULL,
    index_id      TEXT    NOT NULL,
    generation    INTEGER NOT NULL DEFAULT 0,              -- one more with every change
    membership    TEXT    NOT NULL DEFAULT '',             -- signature of what decides which files belong
    sources       TEXT    NOT NULL DEFAULT '{}',           -- JSON: what that signature was made of
    notes         TEXT    NOT NULL DEFAULT '{}',           -- JSON: links, submodules, unreadable, ...
    extractor     INTEGER NOT NULL DEFAULT 0,              -- version that last saw the whole view
    complete      INTEGER NOT NULL DEFAULT 0,
    files         INTEGER NOT NULL DEFAULT 0,
    chunk_count   INTEGER NOT NULL DEFAULT 0,
    body_terms    INTEGER NOT NULL DEFAULT 0,
    name_terms    INTEGER NOT NULL DEFAULT 0,
    doc_terms     INTEGER NOT NULL DEFAULT 0,
    pinned        INTEGER NOT NULL DEFAULT 0,
    created_s     INTEGER NOT NULL,
    accessed_s    INTEGER NOT NULL
) STRICT;

CREATE TABLE view_files (
    view        INTEGER NOT NULL REFERENCES views (id) ON DELETE CASCADE,
    path        INTEGER NOT NULL REFERENCES paths (id),
    content     INTEGER REFERENCES contents (id),          -- NULL: nothing is known of its text
    state       INTEGER NOT NULL,                          -- 0 current, 1 pending, 2 unreadable, 3 oversized
    signature   BLOB    NOT NULL,                          -- see scan/stat_signature.py
    PRIMARY KEY (view, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX view_files_by_content ON view_files (content);

CREATE TABLE view_folders (
    view        INTEGER NOT NULL REFERENCES views (id) ON DELETE CASCADE,
    path        BLOB    NOT NULL,
    signature   BLOB    NOT NULL,
    PRIMARY KEY (view, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE index_locks (
    name        TEXT    NOT NULL PRIMARY KEY,
    owner       TEXT    NOT NULL,
    host        TEXT    NOT NULL,
    boot        TEXT    NOT NULL,
    pid         INTEGER NOT NULL,
    pid_start   TEXT    NOT NULL,
    heartbeat_s REAL    NOT NULL,
    expires_s   REAL    NOT NULL,
    fencing     INTEGER NOT NULL
) STRICT;
