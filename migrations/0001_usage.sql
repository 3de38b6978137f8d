-- How much codelens was used, by day; never what was asked or read.
CREATE TABLE calls (
    day          TEXT    NOT NULL,                         -- local date, 2026-11-21
    tool         TEXT    NOT NULL,
    repository   TEXT    NOT NULL,                         -- id; empty where none was opened
    calls        INTEGER NOT NULL,
    failed       INTEGER NOT NULL,
    served_bytes INTEGER NOT NULL,
    whole_bytes  INTEGER NOT NULL,                         -- of files, see docs/cli.md
    saved_bytes  INTEGER NOT NULL,
    PRIMARY KEY (day, tool, repository)
) STRICT, WITHOUT ROWID;

CREATE TABLE repositories (
    id          TEXT    NOT NULL PRIMARY KEY,
    place       TEXT    NOT NULL                           -- where it was last seen
) STRICT, WITHOUT ROWID;

-- Logs that were added up, so that none counts twice.
CREATE TABLE folded (
    name        TEXT    NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
