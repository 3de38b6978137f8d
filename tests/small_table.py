"""Tables of a few words, written by the format alone."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from codelens.meaning.word_table import HEAD, MAGIC


def write_table(file: Path, words: Mapping[str, Sequence[int]], version: int = 1) -> Path:
    """Writes a table of these terms, each with numbers of -127 to 127; all gates are 512."""
    terms = sorted(words)
    text = "\n".join(terms).encode()
    gates = struct.pack(f"<{2 * len(terms)}H", *[512] * (2 * len(terms)))
    vectors = b"".join(bytes(number + 128 for number in words[term]) for term in terms)
    body = text + gates + vectors
    width = len(words[terms[0]])
    digest = hashlib.sha256(body).digest()
    head = HEAD.pack(MAGIC, version, width, len(terms), len(text), zlib.crc32(body), digest)
    file.write_bytes(head + body)
    return file
