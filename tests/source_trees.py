"""The source files of the product and their syntax trees, each parsed once per process."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import codelens

ROOT = Path(next(iter(codelens.__path__)))
FILES = sorted(ROOT.rglob("*.py"))


@cache
def tree_of(file: Path) -> ast.Module:
    """The syntax tree of a source file; do not modify it."""
    return ast.parse(file.read_text(encoding="utf-8"))
