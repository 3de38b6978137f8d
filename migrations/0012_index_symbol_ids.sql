-- Definitions and their texts are appended by an id of content and place: an index b-tree, as that of
-- a table without rowid is, leaves an eighth of its pages empty. A usual kind is a number, and a
-- parent is counted from 1, for 0 takes no byte. A fifth of what they take in Linux (docs/cost.md).
-- What is there is converted; keys stay as they are.

ALTER TABLE symbols RENAME TO symbols_before;

CREATE TABLE symbols (
    id          INTEGER PRIMARY KEY,                       -- content << 24 | ordinal
    content     INTEGER GENERATED ALWAYS AS (id >> 24) VIRTUAL,
    ordinal     INTEGER GENERATED ALWAYS AS (id & 16777215) VIRTUAL,
    name        TEXT    NOT NULL,
    own_key     TEXT,                                      -- NULL: the name in lower case, without _
    key         TEXT    GENERATED ALWAYS AS (coalesce(own_key, replace(lower(name), '_', ''))) VIRTUAL,
    around      TEXT    NOT NULL,                          -- what stands before the name; or = and all
    qualified   TEXT    GENERATED ALWAYS AS (
                    CASE WHEN substr(around, 1, 1) = '=' THEN substr(around, 2) ELSE around || name END
                ) VIRTUAL,
    kind_code   ANY     NOT NULL,                          -- a number of those below, or the kind
    kind        TEXT    GENERATED ALWAYS AS (
                    CASE kind_code WHEN 0 THEN 'function' WHEN 1 THEN 'method' WHEN 2 THEN 'variable'
                    WHEN 3 THEN 'constant' WHEN 4 THEN 'field' WHEN 5 THEN 'macro'
                    WHEN 6 THEN 'key' WHEN 7 THEN 'class' WHEN 8 THEN 'heading'
                    WHEN 9 THEN 'member' WHEN 10 THEN 'property' WHEN 11 THEN 'struct'
                    ELSE kind_code END
                ) VIRTUAL,
    exported    INTEGER NOT NULL,
    start_line  INTEGER NOT NULL,
    further     INTEGER NOT NULL,                          -- lines after the first
    end_line    INTEGER GENERATED ALWAYS AS (start_line + further) VIRTUAL,
    name_below  INTEGER NOT NULL,                          -- lines from the first to the name
    name_line   INTEGER GENERATED ALWAYS AS (start_line + name_below) VIRTUAL,
    start_byte  INTEGER NOT NULL,
    size_bytes  INTEGER NOT NULL,
    end_byte    INTEGER GENERATED ALWAYS AS (start_byte + size_bytes) VIRTUAL,
    parent_number INTEGER NOT NULL,                        -- ordinal + 1; 0: none
    parent      INTEGER GENERATED ALWAYS AS (parent_number - 1) VIRTUAL
) STRICT;

INSERT INTO symbols (id, name, own_key, around, kind_code, exported, start_line, further,
    name_below, start_byte, size_bytes, parent_number)
SELECT content << 24 | ordinal, name, own_key, around,
    CASE kind WHEN 'function' THEN 0 WHEN 'method' THEN 1 WHEN 'variable' THEN 2
    WHEN 'constant' THEN 3 WHEN 'field' THEN 4 WHEN 'macro' THEN 5 WHEN 'key' THEN 6
    WHEN 'class' THEN 7 WHEN 'heading' THEN 8 WHEN 'member' THEN 9 WHEN 'property' THEN 10
    WHEN 'struct' THEN 11 ELSE kind END,
    exported, start_line, further, name_below, start_byte, size_bytes, parent + 1
FROM symbols_before ORDER BY content, ordinal;

-- Its triggers go with it.
DROP TABLE symbols_before;

CREATE TRIGGER symbols_inserted AFTER INSERT ON symbols BEGIN
    INSERT INTO symbol_keys (key, content, ordinal) VALUES (new.key, new.content, new.ordinal);
END;
CREATE TRIGGER symbols_deleted AFTER DELETE ON symbols BEGIN
    DELETE FROM symbol_keys
    WHERE key = old.key AND content = old.content AND ordinal = old.ordinal;
END;

-- Signatures and docs the same: a block is one of 128 definitions, and may be a page long.
ALTER TABLE symbol_texts RENAME TO symbol_texts_before;
CREATE TABLE symbol_texts (
    id          INTEGER PRIMARY KEY,                       -- content << 17 | block
    content     INTEGER GENERATED ALWAYS AS (id >> 17) VIRTUAL,
    block       INTEGER GENERATED ALWAYS AS (id & 131071) VIRTUAL,
    data        BLOB    NOT NULL
) STRICT;
INSERT INTO symbol_texts (id, data)
SELECT content << 17 | block, data FROM symbol_texts_before ORDER BY content, block;
DROP TABLE symbol_texts_before;

-- In place of foreign keys, which would take an index.
CREATE TRIGGER contents_deleted AFTER DELETE ON contents BEGIN
    DELETE FROM symbols WHERE id >= old.id << 24 AND id < (old.id + 1) << 24;
    DELETE FROM symbol_texts WHERE id >= old.id << 17 AND id < (old.id + 1) << 17;
END;
