-- Neighbouring terms of a segment stand in one row, compressed (store/facts/posting_blocks.py), and
-- rows are appended by an id: half of the bytes of Linux's postings. What is there in the old
-- layout goes, and is extracted again at the next look.

DELETE FROM view_files;
DELETE FROM view_folders;
DELETE FROM views;
DROP TABLE postings;
DELETE FROM segments;
DELETE FROM symbols;
DELETE FROM contents;

CREATE TABLE postings (
    id          INTEGER PRIMARY KEY,
    segment     INTEGER NOT NULL REFERENCES segments (id) ON DELETE CASCADE,
    first_term  TEXT    NOT NULL,
    marks       BLOB,                                      -- a byte a term; NULL: data is a posting
    data        BLOB    NOT NULL,
    UNIQUE (segment, first_term)
) STRICT;
