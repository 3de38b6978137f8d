"""The versions of extraction. Raise one with every change that affects extracted facts.

A test compares the digest of the rules (queries, settings, the code of this package), so that no
change is forgotten. Without a new version, old facts would stay in users' indexes.
"""

EXTRACTOR_VERSION = 32
"""Raised with any change. A view from an older version is checked for outdated facts."""

CORE_VERSION = 20
"""Raised with a change outside of a language's own query and settings, which have a `version` of
their own. Facts are outdated if the core version or their language's version is newer.
"""

RULES_DIGEST = "5b304babe90271a9"
"""Digest of all other files of this package. `tests/extract/test_version.py` reports a new one."""
