-- Half of the rows of definitions was text that is seldom read: signatures and doc comments stand
-- apart now, compressed in blocks (store/facts/symbol_texts.py). What follows from the name is not
-- stored beside it, and a place's end is kept as its distance. What is there in the old layout
-- goes, and is extracted again at the next look.

DELETE FROM view_files;
DELETE FROM view_folders;
DELETE FROM views;
DELETE FROM postings;
DELETE FROM segments;
DROP TABLE symbols;
DELETE FROM contents;

CREATE TABLE symbols (
    content     INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    ordinal     INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    own_key     TEXT,                                      -- NULL: the name in lower case, without _
    key         TEXT    GENERATED ALWAYS AS (coalesce(own_key, replace(lower(name), '_', ''))) VIRTUAL,
    around      TEXT    NOT NULL,                          -- what stands before the name; or = and all
    qualified   TEXT    GENERATED ALWAYS AS (
                    CASE WHEN substr(around, 1, 1) = '=' THEN substr(around, 2) ELSE around || name END
                ) VIRTUAL,
    kind        TEXT    NOT NULL,
    exported    INTEGER NOT NULL,
    start_line  INTEGER NOT NULL,
    further     INTEGER NOT NULL,                          -- lines after the first
    end_line    INTEGER GENERATED ALWAYS AS (start_line + further) VIRTUAL,
    name_below  INTEGER NOT NULL,                          -- lines from the first to the name
    name_line   INTEGER GENERATED ALWAYS AS (start_line + name_below) VIRTUAL,
    start_byte  INTEGER NOT NULL,
    size_bytes  INTEGER NOT NULL,
    end_byte    INTEGER GENERATED ALWAYS AS (start_byte + size_bytes) VIRTUAL,
    parent      INTEGER NOT NULL,
    PRIMARY KEY (content, ordinal)
) STRICT, WITHOUT ROWID;

-- An index of a generated column would not do: SQLite computes the column again from the row, so
-- that passing over all keys took six times as long.
CREATE TABLE symbol_keys (
    key         TEXT    NOT NULL,
    content     INTEGER NOT NULL,
    ordinal     INTEGER NOT NULL,
    PRIMARY KEY (key, content, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER symbols_inserted AFTER INSERT ON symbols BEGIN
    INSERT INTO symbol_keys (key, content, ordinal) VALUES (new.key, new.content, new.ordinal);
END;
CREATE TRIGGER symbols_deleted AFTER DELETE ON symbols BEGIN
    DELETE FROM symbol_keys
    WHERE key = old.key AND content = old.content AND ordinal = old.ordinal;
END;

CREATE TABLE symbol_texts (
    content     INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    block       INTEGER NOT NULL,
    data        BLOB    NOT NULL,
    PRIMARY KEY (content, block)
) STRICT, WITHOUT ROWID;
