-- What the chunks of a content mean, by the table of words that ships with codelens
-- (meaning/text_vectors.py): a vector a chunk. What an older table made is made again.
CREATE TABLE chunk_vectors (
    content     INTEGER NOT NULL PRIMARY KEY REFERENCES contents (id) ON DELETE CASCADE,
    version     INTEGER NOT NULL,                          -- of the table
    data        BLOB    NOT NULL
) STRICT;

-- The version of the table whose vectors all contents of a view have.
ALTER TABLE views ADD COLUMN vectors INTEGER NOT NULL DEFAULT 0;
