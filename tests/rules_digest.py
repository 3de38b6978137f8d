"""Digests of the rules behind a version number: of code, without comments and docstrings."""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterable
from pathlib import Path


def digest_of(folder: Path, files: Iterable[Path]) -> str:
    """A digest of files that ignores comments, docstrings and blank lines."""
    found = hashlib.blake2b(digest_size=8)
    for file in sorted(files):
        found.update(file.relative_to(folder).as_posix().encode() + b"\0")
        found.update(bare(file).encode() + b"\0")
    return found.hexdigest()


def bare(file: Path) -> str:
    """The text of a file without comments, docstrings and blank lines."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        text = _bare_python(text)
    else:
        mark = {".scm": ";", ".toml": "#"}[file.suffix]
        lines = text.split("\n")
        text = "\n".join(line for line in lines if not line.lstrip().startswith(mark))
    return "\n".join(line.rstrip() for line in text.split("\n") if line.strip())


def _bare_python(text: str) -> str:
    lines = text.split("\n")
    spans = [*_comments(text), *_docstrings(text)]
    for first, start, last, end in sorted(spans, reverse=True):
        lines[first - 1 : last] = [lines[first - 1][:start] + lines[last - 1][end:]]
    return "\n".join(lines)


def _comments(text: str) -> Iterable[tuple[int, int, int, int]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield (*token.start, *token.end)


def _docstrings(text: str) -> Iterable[tuple[int, int, int, int]]:
    """Statements that are only a string: docstrings, and those below an attribute."""
    for node in ast.walk(ast.parse(text)):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            last, column = value.end_lineno, value.end_col_offset
            assert last is not None, "a parsed node has an end"
            end = len(text.split("\n")[last - 1].encode()[:column].decode())
            yield value.lineno, value.col_offset, last, end
