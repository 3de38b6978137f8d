-- What changed of a view since a reader had its rows: `changes` goes up with every change of its
-- files or folders, and each file has the number of the change that it came with.

ALTER TABLE views ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE view_files ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
