-- What keeping an index for months takes: a clock that no jump moves, where things were last seen,
-- and what is to be collected.

-- The lease's expiry in seconds since boot: what counts for a holder of the same boot.
ALTER TABLE index_locks ADD COLUMN expires_up_s REAL NOT NULL DEFAULT 0;

-- One row. `clock_s` is the index's own time (store/database/store_clock.py); the next three say when it was read.
CREATE TABLE upkeep (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    clock_s     REAL    NOT NULL DEFAULT 0,
    wall_s      REAL    NOT NULL DEFAULT 0,
    up_s        REAL    NOT NULL DEFAULT 0,
    boot        TEXT    NOT NULL DEFAULT '',
    pruned_s    REAL    NOT NULL DEFAULT -1e9,             -- `clock_s` at the last prune
    last_view   INTEGER NOT NULL DEFAULT 0,                -- ids of removed views are not used again
    common_dir  BLOB    NOT NULL DEFAULT x''               -- the repository's; empty: not known yet
) STRICT;
INSERT INTO upkeep (id) VALUES (1);

-- Last use by the index's own time; `accessed_s` is what people are shown.
ALTER TABLE views ADD COLUMN used_s REAL NOT NULL DEFAULT 0;

-- Folders that views are of, and the repository's own: on which file system each was last seen.
CREATE TABLE sites (
    folder      TEXT    NOT NULL PRIMARY KEY,              -- as `views.worktree`
    mount       BLOB    NOT NULL,                          -- the mount point it lies below
    filesystem  TEXT    NOT NULL,
    gone_s      REAL                                       -- `clock_s` when first missed; NULL: there
) STRICT, WITHOUT ROWID;

-- Contents and paths that no view needs, since when; removed when no reader can hold them any more.
CREATE TABLE doomed (
    kind        TEXT    NOT NULL CHECK (kind IN ('content', 'path')),
    id          INTEGER NOT NULL,
    since_s     REAL    NOT NULL,                          -- `clock_s`
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
