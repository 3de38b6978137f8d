-- Views share what they have in common. The files of a view are in blocks of 64 path ids each; views
-- with the same contents there have the same block (store/views/view_blocks.py). A view itself has
-- only the signatures of its files and folders.

CREATE TABLE blocks (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    digest      BLOB    NOT NULL UNIQUE                    -- of the rows in `block_files`
) STRICT;

CREATE TABLE block_files (
    block       INTEGER NOT NULL REFERENCES blocks (id) ON DELETE CASCADE,
    path        INTEGER NOT NULL REFERENCES paths (id),
    content     INTEGER REFERENCES contents (id),          -- NULL: nothing is known of its text
    state       INTEGER NOT NULL,                          -- 0 current, 1 pending, 2 unreadable, 3 oversized
    PRIMARY KEY (block, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX block_files_by_content ON block_files (content);

CREATE TABLE view_blocks (
    view        INTEGER NOT NULL REFERENCES views (id) ON DELETE CASCADE,
    number      INTEGER NOT NULL,                          -- path id / 64
    block       INTEGER NOT NULL REFERENCES blocks (id),
    files       INTEGER NOT NULL,                          -- rows of the block
    signatures  BLOB    NOT NULL,                          -- 8 bytes a file in order; one if all are equal
    changed     INTEGER NOT NULL,                          -- `views.changes` of the last change
    PRIMARY KEY (view, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX view_blocks_by_block ON view_blocks (block);

-- Blocks that were made here are not shared. Signatures are unknown, so the next look finds out which
-- files are as git's index has them, and reads the others.
INSERT INTO blocks (digest)
SELECT CAST(view || '/' || (path / 64) AS BLOB) FROM view_files GROUP BY view, path / 64;
INSERT INTO block_files (block, path, content, state)
SELECT b.id, f.path, f.content, f.state
FROM view_files f JOIN blocks b ON b.digest = CAST(f.view || '/' || (f.path / 64) AS BLOB);
INSERT INTO view_blocks (view, number, block, files, signatures, changed)
SELECT f.view, f.path / 64, b.id, COUNT(*),
    CASE v.kind WHEN 'ref' THEN CAST('(unread)' AS BLOB) ELSE zeroblob(8) END, v.changes + 1
FROM view_files f JOIN views v ON v.id = f.view
    JOIN blocks b ON b.digest = CAST(f.view || '/' || (f.path / 64) AS BLOB)
GROUP BY f.view, f.path / 64;

DROP TABLE view_files;
CREATE VIEW view_files AS
SELECT v.view, v.number, f.path, f.content, f.state
FROM view_blocks v JOIN block_files f ON f.block = v.block;

-- Folders are in blocks of 64 ids as well, with a signature each; 0 for those that a view lacks.
CREATE TABLE folders (
    id          INTEGER PRIMARY KEY,
    path        BLOB    NOT NULL UNIQUE
) STRICT;

DROP TABLE view_folders;
CREATE TABLE view_folders (
    view        INTEGER NOT NULL REFERENCES views (id) ON DELETE CASCADE,
    number      INTEGER NOT NULL,                          -- folder id / 64
    signatures  BLOB    NOT NULL,
    PRIMARY KEY (view, number)
) STRICT, WITHOUT ROWID;

-- No sources: the next look walks the tree.
UPDATE views SET changes = changes + 1, sources = '{}' WHERE kind <> 'ref';
