"""The version of resolving: raised with every change of what edges come out of the same facts.

A test holds the digest of the rules (the code of this package), so that a change cannot be
forgotten: edges of an older version would stay in the indexes of users.
"""

RESOLVER_VERSION = 26
"""Kept edges count for the version that made them alone, and give way only to newer ones."""

RULES_DIGEST = "c603c3bb3bbda53d"
"""Digest of all other files of this package; `tests/resolve/test_version.py` says the new one."""

PACKING_DIGEST = "d6831ff3f1f8f6b7"
"""Digest of `store/facts/resolution_facts.py`: facts that are packed, or whose surface is told,
otherwise than those in the indexes of users need a new CORE_VERSION of
`codelens.extract.extractor_version`."""
