-- Which vectors are of questions, so that those of texts that are gone can be told from them.
CREATE TABLE questions (
    text        BLOB    NOT NULL PRIMARY KEY               -- hash, as in text_vectors
) STRICT, WITHOUT ROWID;
