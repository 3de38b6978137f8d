-- Where the vectors are searched; empty: in this file.
ALTER TABLE consent ADD COLUMN store TEXT NOT NULL DEFAULT '';         -- URL
ALTER TABLE consent ADD COLUMN hybrid INTEGER NOT NULL DEFAULT 0;      -- 1: its rows have terms, too
ALTER TABLE consent ADD COLUMN collection TEXT NOT NULL DEFAULT '';    -- of the store
ALTER TABLE consent ADD COLUMN root TEXT NOT NULL DEFAULT '';          -- of the repository, for people

-- How far the vectors are in another store; those in this file: `fingerprints`.
CREATE TABLE store_states (
    fingerprint INTEGER NOT NULL REFERENCES fingerprints (id) ON DELETE CASCADE,
    store       TEXT    NOT NULL,
    hybrid      INTEGER NOT NULL,
    state       TEXT    NOT NULL CHECK (
        state IN ('indexing', 'indexed', 'failed', 'synced', 'requires_reindex')
    ),
    failure     TEXT    NOT NULL,
    changed_s   REAL    NOT NULL,
    PRIMARY KEY (fingerprint, store, hybrid)
) STRICT, WITHOUT ROWID;

-- What the results of a search are put in order by: one row, or none.
CREATE TABLE reranker (
    id          INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    name        TEXT    NOT NULL,
    model       TEXT    NOT NULL,                          -- of a provider, or a folder
    endpoint    TEXT    NOT NULL,                          -- URL; empty: on this machine
    given_s     REAL    NOT NULL
) STRICT;

-- Which files a worktree or ref had at its last sync, so that the next one can tell what changed.
CREATE TABLE synced_files (
    place       TEXT    NOT NULL PRIMARY KEY,
    files       BLOB    NOT NULL                           -- store/vectors/synced_files.py
) STRICT, WITHOUT ROWID;
