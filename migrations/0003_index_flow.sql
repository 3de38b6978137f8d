-- Scopes, bindings and receivers of a content: what resolving its names takes; see store/flow.py.
ALTER TABLE contents ADD COLUMN flow BLOB NOT NULL DEFAULT x'';
