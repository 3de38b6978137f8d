"""Prints a syntax tree with its fields: `python tests/extract/tree.py GRAMMAR FILE [DEPTH]`.

Useful for writing queries.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tree_sitter import Parser

from codelens.extract.parse.grammars import bundled

WIDTH = 60


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    name, file = sys.argv[1:3]
    deepest = int(sys.argv[3]) if len(sys.argv) > 3 else 99
    cursor = Parser(bundled(name)).parse(Path(file).read_bytes()).walk()
    depth, down = 0, True
    while True:
        node = cursor.node
        if down and node is not None and node.is_named:
            field = f"{cursor.field_name}: " if cursor.field_name else ""
            text = (node.text or b"").decode("utf-8", "replace")
            first = text.split("\n", 1)[0][:WIDTH]
            print(f"{'  ' * depth}{field}({node.type}) {first!r}")
        if down and depth < deepest and cursor.goto_first_child():
            depth += 1
        elif cursor.goto_next_sibling():
            down = True
        elif cursor.goto_parent():
            depth, down = depth - 1, False
        else:
            return


if __name__ == "__main__":
    main()
