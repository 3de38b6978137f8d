-- The roles of paths gained `translation` and `data`. What follows from a path is written once, with
-- the path; so paths go, and with them the views, which cost no extraction to build again.

DELETE FROM view_files;
DELETE FROM view_folders;
DELETE FROM views;
DELETE FROM path_terms;
DELETE FROM paths;
