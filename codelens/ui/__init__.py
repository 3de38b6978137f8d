"""`codelens ui`: a page on loopback that shows what the commands answer.

The server is `http.server`: one person asks it, and it costs no import of a web framework. What
the page asks (`page_questions.py`) are the questions of `Engine`, answered in the JSON of the
commands. Nothing is written but the index, as by every question.
"""
