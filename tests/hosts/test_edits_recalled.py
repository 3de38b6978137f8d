"""A recorded edit reads back unchanged: uninstall relies on it."""

from __future__ import annotations

import json

import pytest

from codelens.hosts.formats.entry_edits import Block, Edit, Entry, Flags, Items, Whole
from codelens.hosts.install_ledger import recalled, record

EDITS = [
    Entry("jsonc", ("a", "codelens"), "/c", {"command": "/c"}, {"x": 1}, {}, (("b", "codelens"),)),
    Items("json", ("permissions", "allow"), ("one", "two")),
    Flags("jsonc", ("permission",), {"codelens_x": "allow"}),
    Block("lines"),
    Whole("skill", "text"),
]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: type(edit).__name__)
def test_an_edit_comes_back_through_json(edit: Edit) -> None:
    assert recalled(json.loads(json.dumps(record(edit)))) == edit


@pytest.mark.parametrize("fields", [{}, {"edit": "Later"}, {"edit": "Block", "colour": "red"}])
def test_records_of_another_version_are_skipped(fields: dict) -> None:
    assert recalled(fields) is None
