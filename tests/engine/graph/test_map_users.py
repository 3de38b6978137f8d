"""Users on the map match those of `related`; a query puts its matches first."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo
from shop_repository import Run

from codelens.answers.graph_answers import MapAnswer, MapSymbol
from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.engine.map import file_ranks
from codelens.render import graph_text
from codelens.resolve.graph import Graph

HELPERS = (
    "<?php\nfunction info($text) { return $text; }\nfunction tapped($value) { return $value; }\n"
)
CALLS_A_METHOD = "<?php\nclass C%d { function go($log) { $log->info('a'); tapped(%d); } }\n"
KOTLIN = {
    "http/HttpClient.kt": (
        "package http\n\nfun HttpClient(engine: String): HttpClient = HttpClient(engine, 1)\n\n"
        "class HttpClient(val engine: String, val number: Int) {\n    fun get() {}\n}\n"
    ),
    **{
        f"use/U{at}.kt": f"package use\n\nimport http.HttpClient\n\n"
        f"fun ask{at}(client: HttpClient) {{ client.get() }}\n"
        for at in range(4)
    },
}


def _map(tmp_path: Path, files: dict[str, str], query: str = "") -> MapAnswer:
    repo = GitRepo.init(tmp_path / "r")
    repo.commit("first", files)
    with Engine(Settings(home=tmp_path / "home")) as engine:
        return engine.map(path=repo.root, query=query)


def _users(answer: MapAnswer) -> dict[str, int]:
    shown: list[MapSymbol] = [*answer.hot, *(row for file in answer.files for row in file.symbols)]
    return {f"{row.node.kind} {row.node.symbol}": row.users for row in shown if not row.depth}


def test_calls_of_methods_of_the_same_name_do_not_count_for_a_function(tmp_path: Path) -> None:
    files = {f"app/C{at}.php": CALLS_A_METHOD % (at, at) for at in range(6)}
    answer = _map(tmp_path, {"helpers.php": HELPERS, **files})
    users = _users(answer)
    assert users["function tapped"] == 6
    assert users["function info"] == 0
    assert [row.node.symbol for row in answer.hot] == ["tapped"]
    assert answer.receipt.status == "fresh"


def test_a_class_and_the_function_of_its_name_have_their_own_users(tmp_path: Path) -> None:
    answer = _map(tmp_path, KOTLIN)
    users = _users(answer)
    assert users["class HttpClient"] == 4
    assert users["function HttpClient"] == 0
    assert answer.hot[0].node.kind == "class"


def test_counts_cut_by_time_are_marked_and_never_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_ranks, "_LEAST_SECONDS", 0.0)
    monkeypatch.setattr(file_ranks, "_MOST_SECONDS", 0.0)
    files = {f"app/C{at}.php": CALLS_A_METHOD % (at, at) for at in range(6)}
    repo = GitRepo.init(tmp_path / "r")
    repo.commit("first", {"helpers.php": HELPERS, **files})
    with Engine(Settings(home=tmp_path / "home")) as engine:
        rough = engine.map(path=repo.root)
        monkeypatch.undo()
        whole = engine.map(path=repo.root)
    assert rough.receipt.status == "partial"
    assert "users of 2 definitions are not all counted" in rough.receipt.note
    assert all(row.at_least and not row.users for row in rough.hot)
    text = "\n".join(graph_text.map_(rough)[0])
    assert "tapped  3  not counted yet" in text
    assert whole.receipt.status == "fresh"
    assert [(row.node.symbol, row.users) for row in whole.hot] == [("tapped", 6)]


def test_another_process_continues_the_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each map resolves a limited number, and the next one continues there."""
    uses = "from lib.shop import order\n\n\ndef go%d():\n    return order(%d)\n"
    files = {f"app/c{at}.py": uses % (at, at) for at in range(40)}
    repo = GitRepo.init(tmp_path / "r")
    repo.commit("first", {"lib/shop.py": "def order(n):\n    return n\n", **files})
    resolved = list[bytes]()
    resolve = Graph._row_of

    def counted(self, path, spent, names=None):
        if len(resolved) >= limit:
            return None
        resolved.append(path)
        return resolve(self, path, spent, names)

    monkeypatch.setattr(Graph, "_row_of", counted)
    statuses, limit = list[str](), 0
    for _ in range(4):
        limit += 15
        with Engine(Settings(home=tmp_path / "home")) as engine:
            answer = engine.map(path=repo.root)
        statuses.append(answer.receipt.status)
    assert statuses == ["partial", "partial", "fresh", "fresh"]
    assert [(row.node.symbol, row.users) for row in answer.hot] == [("order", 40)]
    assert len(resolved) == len(set(resolved)) < 60


def test_a_query_leads_with_its_matches(repo: GitRepo, run: Run) -> None:
    for at in range(20):
        repo.write(
            f"far/f{at}.py", f"def far{at}():\n    return {at}\n\n\ndef parse_invoice{at}(): pass\n"
        )
    lines = run("map", "--query", "parse_invoice7").out.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("the query finds"))
    assert lines[start + 1].startswith("  far/f7.py#parse_invoice7  5  def parse_invoice7()")
    answer = run("map", "--query", "parse_invoice7", "--json").json
    assert answer["meant"][0]["handle"] == "far/f7.py#parse_invoice7"
    assert answer["results"][0]["path"] == "far/f7.py"
    assert "the query finds:" not in run("map").out
