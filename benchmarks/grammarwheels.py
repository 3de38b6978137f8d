"""Compares grammars of the language pack with standalone wheels: do they parse alike?

    pip install tree-sitter-python tree-sitter-kotlin     # in a scratch environment
    python benchmarks/grammarwheels.py python kotlin

For each grammar: the kinds of nodes, whether the codelens query compiles, and whether the fixtures
give the same trees.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from tree_sitter import Language, Parser, Query, QueryError
from tree_sitter_language_pack import get_language

ROOT = Path(__file__).resolve().parents[1]


def trees(language: Language, name: str) -> list[str]:
    """The fixtures of a language, parsed."""
    files = sorted((ROOT / "tests" / "fixtures" / name).iterdir())
    sources = [file.read_bytes() for file in files if file.suffix != ".json"]
    return [str(Parser(language).parse(source).root_node) for source in sources]


def fits(language: Language, name: str) -> str:
    """Whether the codelens query compiles for this grammar."""
    try:
        Query(language, (ROOT / "codelens/extract/languages" / f"{name}.scm").read_text("utf-8"))
    except QueryError as error:
        return f"query refused ({str(error)[:60]})"
    return "query fits"


def main(names: list[str]) -> None:
    for name in names:
        alone = Language(importlib.import_module(f"tree_sitter_{name}").language())
        packed = get_language(name)  # type: ignore[arg-type]
        same = sum(a == b for a, b in zip(trees(alone, name), trees(packed, name), strict=True))
        print(
            f"{name}: {packed.node_kind_count} kinds in the pack, {alone.node_kind_count} alone; "
            f"{fits(alone, name)}; {same} of {len(trees(packed, name))} fixtures parse alike"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
