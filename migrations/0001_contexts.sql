-- What people and agents saved of one repository: precious, apart from the rebuildable index.

CREATE TABLE about (
    key         TEXT    NOT NULL PRIMARY KEY,              -- see store/saved/context_rows.py
    value       TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE contexts (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT    NOT NULL UNIQUE,
    note        TEXT    NOT NULL,
    category    TEXT    NOT NULL,
    tags        TEXT    NOT NULL,                          -- JSON array
    pinned      INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    created_s   INTEGER NOT NULL,
    saved_s     INTEGER NOT NULL,
    expires_s   INTEGER,                                   -- NULL: never
    branch      TEXT    NOT NULL,                          -- where one stood when saving
    head        TEXT    NOT NULL,
    digest      BLOB    NOT NULL                           -- of all this and the items: shows damage
) STRICT;

-- What a context points at: path, symbol and body, never rows of the index.
CREATE TABLE items (
    context     INTEGER NOT NULL REFERENCES contexts (id) ON DELETE CASCADE,
    ordinal     INTEGER NOT NULL,
    kind        TEXT    NOT NULL CHECK (kind IN ('symbol', 'lines', 'file')),
    path        BLOB    NOT NULL,
    symbol      TEXT    NOT NULL,                          -- qualified; of lines: what they lie in
    number      INTEGER NOT NULL,                          -- which of that name in the file
    start_line  INTEGER NOT NULL,                          -- of lines, else 0
    end_line    INTEGER NOT NULL,
    below       INTEGER NOT NULL,                          -- lines from the symbol's first to start_line
    body        BLOB    NOT NULL,                          -- hash of the text
    shape       BLOB    NOT NULL,                          -- the same without the symbol's own name
    content     BLOB    NOT NULL,                          -- hash of the whole file
    ref         TEXT    NOT NULL,                          -- the ref that the handle named
    head        TEXT    NOT NULL,                          -- the commit it was seen at
    PRIMARY KEY (context, ordinal)
) STRICT, WITHOUT ROWID;

-- Terms of codelens's own tokenizer, space between; can be made again from the rows.
CREATE VIRTUAL TABLE contexts_terms USING fts5 (
    name, tags, note, places, tokenize = 'unicode61 remove_diacritics 0'
);
