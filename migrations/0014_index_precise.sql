-- What compilers say of texts, imported from SCIP indexes (store/facts/precise_facts.py). A document
-- belongs to the hash of the text that was indexed, not to a row of `contents`: facts that a newer
-- extractor makes of the same text leave it alone.

CREATE TABLE precise_imports (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    tool        TEXT    NOT NULL,                          -- name and version of the indexer
    day         TEXT    NOT NULL                           -- of the import, UTC: 2026-11-28
) STRICT;

CREATE TABLE precise_documents (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    import      INTEGER NOT NULL REFERENCES precise_imports (id) ON DELETE CASCADE,
    hash        BLOB    NOT NULL,
    path        BLOB    NOT NULL,                          -- where the text was when it was indexed
    data        BLOB    NOT NULL,
    UNIQUE (hash, path)
) STRICT;
CREATE INDEX precise_documents_by_import ON precise_documents (import);

CREATE TABLE precise_symbols (
    id          INTEGER PRIMARY KEY,
    symbol      TEXT    NOT NULL UNIQUE
) STRICT;

CREATE TABLE precise_places (
    symbol      INTEGER NOT NULL REFERENCES precise_symbols (id),
    document    INTEGER NOT NULL REFERENCES precise_documents (id) ON DELETE CASCADE,
    defines     INTEGER NOT NULL,                          -- whether the document defines the symbol
    PRIMARY KEY (symbol, document)
) STRICT, WITHOUT ROWID;
CREATE INDEX precise_places_by_document ON precise_places (document);
