"""Programs read a command's JSON by its keys: no released key disappears or is renamed."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from gitrepo import GitRepo
from shop_repository import Run

RECEIPT = (
    "branch checked elapsed_ms files head index_id indexed note pending pending_names status "
    "worktree"
)
PLACE = "end_line handle path start_line"
NODE = f"{PLACE} kind signature symbol"
STATUS = (
    "branch detached dirty files head index_bytes index_path kind languages nested outcomes "
    "repo_id repository root skipped state submodules views worktrees"
)

KEYS: dict[tuple[str, ...], dict[str, str]] = {
    ("search", "Book"): {
        "": "mode notes query receipt results",
        "receipt": RECEIPT,
        "results[]": f"{NODE} language score why",
    },
    ("expand", "shop/book.py#Book"): {
        "": "receipt results",
        "receipt": RECEIPT,
        "results[]": f"{PLACE} asked language text",
    },
    ("outline", "shop/book.py"): {
        "": "folders notes receipt results target",
        "receipt": RECEIPT,
        "results[]": "items language lines outcome path tokens",
        "results[].items[]": "depth doc end_line exported handle kind name signature start_line",
    },
    ("related", "Book"): {
        "": "notes receipt results target totals",
        "receipt": RECEIPT,
        "target": NODE,
        "results[]": f"{NODE} count distance relation sites via",
    },
    ("impact", "Book"): {
        "": "at_least base changed files notes receipt results test_count tests totals",
        "receipt": RECEIPT,
        "changed[]": f"{NODE} how",
        "results[]": f"{NODE} distance how site via",
    },
    ("map",): {
        "": "entries files focus folders hot languages links name notes receipt results",
        "receipt": RECEIPT,
        "results[]": "imported_by language left lines path score symbols",
        "results[].symbols[]": "depth thing users",
        "results[].symbols[].thing": f"{NODE} test",
    },
    ("status",): {"": "receipt status", "receipt": RECEIPT, "status": STATUS},
}
"""Command -> place in its JSON -> keys of each object there (as of 0.1.0)."""


@pytest.mark.parametrize("command", KEYS, ids=" ".join)
def test_no_key_of_an_answer_is_renamed(command: tuple[str, ...], run: Run, repo: GitRepo) -> None:
    done = run(*command, "--json")
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    for place, keys in KEYS[command].items():
        objects = list(_objects(answer, place))
        assert objects, f"nothing at {place}: choose another question"
        for item in objects:
            assert set(keys.split()) <= item.keys(), (place, set(keys.split()) - item.keys())


def _objects(answer: object, place: str) -> Iterator[dict[str, object]]:
    found: list[object] = [answer]
    for step in filter(None, place.split(".")):
        name = step.removesuffix("[]")
        below = [item[name] for item in found if isinstance(item, dict)]
        found = [item for part in below for item in part] if step.endswith("[]") else below
    for item in found:
        assert isinstance(item, dict)
        yield item
