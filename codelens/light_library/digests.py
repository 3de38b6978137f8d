"""BLAKE2 and SHA-256 of small texts without `hashlib`, which loads OpenSSL: 2.5 ms.

They are the functions that `hashlib` takes where there is no OpenSSL; their digests are the same.
For bytes without end `hashlib` is faster.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import blake2b, sha256
else:
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    try:
        # As it is called since 3.12, and before.
        from _sha2 import sha256
    except ImportError:
        try:
            from _sha256 import sha256
        except ImportError:
            from hashlib import sha256

__all__ = ["blake2b", "sha256"]
