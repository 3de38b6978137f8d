"""The version of the resolver; raise it whenever the same facts yield different edges.

A test checks a digest of the rules (the code of this package), so that nobody forgets: otherwise
edges of an older version would remain in users' indexes.
"""

RESOLVER_VERSION = 33
"""Stored edges are valid only for the version that computed them; newer versions replace them."""

RULES_DIGEST = "6afec514bf591460"
"""Digest of all other files of this package; `tests/resolve/test_version.py` prints the new one."""

PACKING_DIGEST = "1dacf9222dcb3fb7"
"""Digest of `store/facts/resolution_facts.py`. If facts are packed differently, or their surface
changes, raise CORE_VERSION in `codelens.extract.extractor_version`."""
