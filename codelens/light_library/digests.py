"""BLAKE2 of small texts without `hashlib`, which loads OpenSSL: 2.5 ms.

It is the function that `hashlib` takes; the digests are the same. SHA-256 is `sha256_hex`.
For bytes without end `hashlib` is faster.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import blake2b
else:
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b

__all__ = ["blake2b"]
