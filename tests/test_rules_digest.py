"""The digest of rules: a comment does not change it, code does."""

from __future__ import annotations

from pathlib import Path

from rules_digest import digest_of

CODE = '''"""What it is for."""
LIMIT = 3
"""How many."""


def one(text: str) -> str:
    """Give it back."""
    return text + "# not a comment"  # but this is
'''


def digest(tmp_path: Path, text: str, name: str = "rules.py") -> str:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return digest_of(tmp_path, [file])


def test_comments_and_docstrings_do_not_change_it(tmp_path: Path) -> None:
    before = digest(tmp_path, CODE)
    for old, new in (
        ("What it is for", "Was es ist"),
        ("How many", "How\nmany things"),
        ("Give it back", "Return it"),
        ("but this is", "and this"),
    ):
        assert digest(tmp_path, CODE.replace(old, new)) == before


def test_code_changes_it(tmp_path: Path) -> None:
    before = digest(tmp_path, CODE)
    for old, new in (("LIMIT = 3", "LIMIT = 4"), ("# not a comment", "# not"), ("one", "two")):
        assert digest(tmp_path, CODE.replace(old, new)) != before


def test_a_query_counts_without_its_comments(tmp_path: Path) -> None:
    before = digest(tmp_path, "; why\n(call) @call\n", "a.scm")
    assert digest(tmp_path, "(call) @call\n", "a.scm") == before
    assert digest(tmp_path, "(call) @reference\n", "a.scm") != before
