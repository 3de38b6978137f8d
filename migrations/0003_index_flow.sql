-- What resolving the names of a content takes (store/flow.py): scopes, bindings and receivers,
-- and a digest of what other files can see of it.
ALTER TABLE contents ADD COLUMN flow BLOB NOT NULL DEFAULT x'';
ALTER TABLE contents ADD COLUMN surface INTEGER NOT NULL DEFAULT 0;
