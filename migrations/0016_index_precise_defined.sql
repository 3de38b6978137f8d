-- A symbol may be used in one import and defined in another (a package of a monorepo for each). That
-- a use means something in this repository stays known when the text of the definition is gone.

ALTER TABLE precise_symbols ADD COLUMN defined INTEGER NOT NULL DEFAULT 0;
UPDATE precise_symbols SET defined = 1
WHERE id IN (SELECT symbol FROM precise_places WHERE defines);
