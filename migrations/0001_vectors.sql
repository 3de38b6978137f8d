-- Where texts of this repository may be sent: one row, or none, and then nothing is sent.
CREATE TABLE consent (
    id          INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    provider    TEXT    NOT NULL,
    model       TEXT    NOT NULL,
    endpoint    TEXT    NOT NULL,                          -- URL
    dimension   INTEGER NOT NULL,                          -- numbers of a vector
    given_s     REAL    NOT NULL,                          -- seconds since 1970
    file        TEXT    NOT NULL                           -- name of the database it was given in
) STRICT;

-- Vectors of two fingerprints are never compared.
CREATE TABLE fingerprints (
    id          INTEGER NOT NULL PRIMARY KEY,
    provider    TEXT    NOT NULL,
    model       TEXT    NOT NULL,
    dimension   INTEGER NOT NULL,
    packing     INTEGER NOT NULL,                          -- version of what is sent and stored
    state       TEXT    NOT NULL CHECK (
        state IN ('indexing', 'indexed', 'failed', 'synced', 'requires_reindex')
    ),
    failure     TEXT    NOT NULL,                          -- of the last run; else empty
    changed_s   REAL    NOT NULL,
    UNIQUE (provider, model, dimension, packing)
) STRICT;

CREATE TABLE text_vectors (
    fingerprint INTEGER NOT NULL REFERENCES fingerprints (id) ON DELETE CASCADE,
    text        BLOB    NOT NULL,                          -- hash of kind and text
    data        BLOB    NOT NULL,                          -- a byte a number
    UNIQUE (fingerprint, text)
) STRICT;

-- Which texts the chunks of a content are, so that nothing is read again to find their vectors.
CREATE TABLE content_texts (
    hash        BLOB    NOT NULL,                          -- of the content's bytes
    language    TEXT    NOT NULL,
    spans       INTEGER NOT NULL,                          -- CRC-32 of where its chunks are
    texts       BLOB    NOT NULL,                          -- 16 bytes a chunk, in order
    PRIMARY KEY (hash, language)
) STRICT, WITHOUT ROWID;

-- What left this machine.
CREATE TABLE sent (
    day         TEXT    NOT NULL,                          -- local date, 2026-11-24
    provider    TEXT    NOT NULL,
    model       TEXT    NOT NULL,
    endpoint    TEXT    NOT NULL,
    requests    INTEGER NOT NULL,
    failed      INTEGER NOT NULL,                          -- of these requests
    texts       INTEGER NOT NULL,
    bytes       INTEGER NOT NULL,
    tokens      INTEGER NOT NULL,                          -- as the provider counts; 0 unknown
    PRIMARY KEY (day, provider, model, endpoint)
) STRICT, WITHOUT ROWID;
