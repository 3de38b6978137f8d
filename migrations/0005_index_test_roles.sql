-- More paths have the role `test` (Gherkin, source sets such as `jvmTest`, projects such as
-- `Shop.Tests`). As in 0002, paths go, and with them the views, which cost no extraction to build again.

DELETE FROM view_files;
DELETE FROM view_folders;
DELETE FROM views;
DELETE FROM path_terms;
DELETE FROM paths;
