"""The versions of extraction: to be raised with every change of what facts come out of a text.

A test holds the digest of the rules (queries, settings, code of this package), so that a change
cannot be forgotten: facts of an older version would stay in the indexes of users.
"""

EXTRACTOR_VERSION = 25
"""Raised with any change; a view that an older one completed is checked for outdated facts."""

CORE_VERSION = 13
"""Raised with a change that is not of one language's query and settings alone; those have a
`version` of their own. Facts are outdated when core or language are newer than they."""

RULES_DIGEST = "586e37dae3fd8dde"
"""Digest of all other files of this package; `tests/extract/test_version.py` says the new one."""
