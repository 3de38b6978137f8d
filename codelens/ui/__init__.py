"""`codelens ui`: a page on loopback that shows the answers of the commands.

The server is `http.server`, which suffices for one user and saves the import of a web framework.
The page calls methods of `Engine` (`page_questions.py`) and gets the JSON of the commands. Like
every command, it only writes the index.
"""
