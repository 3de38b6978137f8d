"""The version of all extraction: raise it with every change of what facts come out of a text.

Views remember it, so that facts are rolled forward once. A test holds the digest of the rules
(queries, settings, extraction code) beside it, so a change cannot be forgotten.
"""

EXTRACTOR_VERSION = 1
