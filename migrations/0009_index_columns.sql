-- Postings and references are laid out by columns (store/facts/posting_layout.py, packed_facts.py): a
-- third smaller. What is there in the old layout goes, and is extracted again at the next look.

DELETE FROM view_files;
DELETE FROM view_folders;
DELETE FROM views;
DELETE FROM postings;
DELETE FROM segments;
DELETE FROM symbols;
DELETE FROM contents;
