"""The page's answers: the same as the commands', for this repository alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping

import pytest
from gitrepo import GitRepo
from page_site import EDITOR, Site

from codelens.render import branch_text, reading_text


def timeless(answer: Mapping[str, object]) -> dict:
    fields: dict = json.loads(json.dumps(answer))
    receipt = {**fields["receipt"], "elapsed_ms": 0, "checked": 0, "indexed": 0}
    return {**fields, "receipt": receipt}


def test_the_answers_are_those_of_the_commands(site: Site) -> None:
    root = site.repo.root
    found = reading_text.search_json(site.engine.search("total", path=root, limit=20))
    assert timeless(site.answer("search", query="total")) == timeless(found)
    diff = branch_text.diff_json(site.engine.diff("HEAD", path=root))
    assert timeless(site.answer("diff", spec="HEAD")) == timeless(diff)


def test_standing_lists_worktrees_and_refs(site: Site) -> None:
    site.repo.git("branch", "feature")
    answer = site.answer("standing")
    assert [tree["branch"] for tree in answer["worktrees"]] == ["main"]
    assert answer["refs"] == ["feature", "main"]
    assert answer["editor"] == EDITOR
    assert answer["editor_root"].startswith("/")


@pytest.mark.parametrize(
    ("question", "arguments", "key"),
    [
        ("outline", {"target": "shop/cart.py"}, "results"),
        ("related", {"target": "shop/cart.py#total"}, "results"),
        ("map", {}, "results"),
        ("history", {"target": "shop/cart.py#total"}, "results"),
        ("snippets", {"handles": "shop/cart.py#total"}, "results"),
        ("recent", {}, "commits"),
        ("conflicts", {}, "clean"),
        ("notes", {}, "results"),
        ("views", {}, "results"),
    ],
)
def test_every_question_has_an_answer(
    site: Site, question: str, arguments: dict[str, str], key: str
) -> None:
    assert key in site.answer(question, **arguments)


def test_a_source_has_colours_and_links(site: Site) -> None:
    answer = site.answer("source", target="shop/cart.py#total")
    lines = answer["text"].split("\n")
    assert (answer["place_start"], answer["place_end"], answer["file_lines"]) == (4, 6, 6)
    links = {
        (line, lines[line - 1][start:end], handle, defines)
        for line, start, end, handle, defines in answer["links"]
    }
    assert (1, "Item", "shop/base.py#Item", False) in links
    assert (4, "total", "shop/cart.py#total", True) in links
    assert (6, "price", "shop/base.py#Item.price", False) in links
    marks = [(lines[line - 1][start:end], kind) for line, start, end, kind in answer["marks"]]
    assert ("def", "keyword") in marks
    assert ("# Everything.", "comment") in marks
    assert (' EUR"', "string") in marks


def test_results_have_code_in_colours(site: Site) -> None:
    handles = [
        "shop/cart.py#total",
        "shop/wide.py:3",
        "shop/gone.py",
        "blob.bin",
        "../../etc/passwd",
    ]
    total, wide = site.answer("snippets", handles="\n".join(handles))["results"]
    lines = total["text"].split("\n")
    assert (total["start_line"], lines[:2]) == (4, ["def total():", "    # Everything."])
    marks = [(lines[line - 4][start:end], kind) for line, start, end, kind in total["marks"]]
    assert {("def", "keyword"), ("# Everything.", "comment")} <= set(marks)
    assert wide["handle"] == "shop/wide.py:3"
    assert [3, 6, 10, "string"] in wide["marks"]


def test_code_of_results_shows_no_secrets(own_site: Site) -> None:
    key = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    own_site.repo.write(".env", "# Cloud.\nSECRET=envvalue77\n")
    own_site.repo.write("app.py", f'def login():\n    return "\u00fc {key}"\n')
    results = own_site.answer("snippets", handles=".env\napp.py#login")["results"]
    assert [row["path"] for row in results] == [".env", "app.py"]
    assert "SECRET=" in results[0]["text"] and "envvalue77" not in results[0]["text"]
    assert "login" in results[1]["text"] and key not in results[1]["text"]
    assert results[1]["marks"] == []


def test_recent_work_is_listed_for_each_worktree(own_site: Site) -> None:
    repo = own_site.repo
    side = repo.worktree(repo.root.parent / "side", branch="side")
    side.commit("<b>Sell</b> pens\n\nMore.", {"shop/pens.py": "PENS = 1\n"})
    repo.commit("Sell ink", {"shop/ink.py": "INK = 1\n"})
    here = own_site.answer("recent")
    assert [row["subject"] for row in here["commits"]] == ["Sell ink", "first"]
    assert [(root, row["subject"]) for root, row in here["worktrees"]] == [
        (str(side.root), "<b>Sell</b> pens")
    ]
    there = own_site.answer("recent", worktree=str(side.root))
    assert [row["subject"] for row in there["commits"]] == ["<b>Sell</b> pens", "first"]
    assert own_site.answer("recent", ref="side")["commits"] == there["commits"]


def test_columns_count_like_javascript(site: Site) -> None:
    answer = site.answer("source", target="shop/wide.py")
    units = answer["text"].split("\n")[2].encode("utf-16-le")
    link = next(link for link in answer["links"] if link[0] == 3 and not link[4])
    assert units[link[1] * 2 : link[2] * 2].decode("utf-16-le") == "total"


def test_a_ref_is_shown_as_it_was(own_site: Site) -> None:
    own_site.repo.write("shop/base.py", "NOW = 1\n")
    before = own_site.answer("source", target="shop/base.py", ref="main")
    assert "class Item" in before["text"]
    assert before["handle"] == "main:shop/base.py"
    assert own_site.answer("standing", ref="main")["editor"] == ""


def test_empty_and_binary_files(site: Site) -> None:
    assert site.answer("source", target="empty.py")["file_lines"] == 0
    status, answer = site.ask("source", target="blob.bin")
    assert (status, "binary" in answer["error"]) == (422, True)


@pytest.mark.parametrize(
    "target", ["../../etc/passwd", "/etc/passwd", "shop/../../x", ".git/config"]
)
def test_no_file_outside_of_the_worktree_is_read(site: Site, target: str) -> None:
    status, answer = site.ask("source", target=target)
    assert status == 422
    assert answer.keys() == {"error"}


def test_only_worktrees_of_the_repository_are_shown(own_site: Site) -> None:
    status, answer = own_site.ask("search", query="total", worktree="/")
    assert (status, "not a worktree of this repository" in answer["error"]) == (400, True)
    other = own_site.repo.root.parent / "other"
    own_site.repo.git("worktree", "add", "-q", "-b", "other", str(other))
    (other / "shop/new.py").write_text("def only_here():\n    pass\n")
    answer = own_site.answer("search", query="only_here", worktree=str(other))
    assert answer["results"][0]["handle"] == "shop/new.py#only_here"


@pytest.mark.parametrize(
    "query",
    ["nothing", "search?query=a&query=b", "search?quarry=a", "search?query=a&limit=0",
     "search?query=a&limit=1e3", "search?query=a&limit=9999", "search?query=%ff", "search?&&",
     "search?query=" + "a" * 9_000],
)  # fmt: skip
def test_requests_that_no_page_sends_are_refused(site: Site, query: str) -> None:
    assert site.get(f"{site.base}api/{query}")[0] == 400


def test_names_of_the_repository_come_as_they_are(own_site: Site) -> None:
    name = "<img src=x onerror=alert(1)>\u202e'\".py"
    own_site.repo.write(name, "def hostile():\n    return '</script>'\n")
    handle = own_site.answer("search", query="hostile")["results"][0]["handle"]
    status, headers, body = own_site.get(f"{own_site.base}api/search?query=hostile")
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert own_site.answer("source", target=handle)["path"] == name
    assert body


def test_a_missing_repository_is_reported(own_site: Site) -> None:
    shutil.rmtree(own_site.repo.root)
    status, answer = own_site.ask("search", query="total")
    assert status == 422
    assert "no such path" in answer["error"]
    assert own_site.get(own_site.base)[0] == 200


def test_a_missing_worktree_is_reported_and_the_others_are_shown(own_site: Site) -> None:
    side = own_site.repo.worktree(own_site.repo.root.parent / "side", branch="side")
    arguments = {"query": "total", "worktree": str(side.root)}
    assert own_site.answer("search", **arguments)["results"]
    shutil.rmtree(side.root)
    for question in ("search", "standing", "diff", "conflicts", "views"):
        arguments = {"worktree": str(side.root)} | (
            {"query": "total"} if question == "search" else {}
        )
        status, answer = own_site.ask(question, **arguments)
        assert status in (200, 400, 422) and "bug" not in str(answer.get("error")), question
    status, answer = own_site.ask("search", query="total", worktree=str(side.root))
    assert (status, str(side.root) in answer["error"]) == (422, True)
    assert own_site.answer("search", query="total")["results"]
    assert str(side.root) not in str(own_site.answer("standing")["worktrees"])


def test_a_recreated_repository_is_the_one_shown(own_site: Site) -> None:
    assert own_site.answer("search", query="total")["results"]
    shutil.rmtree(own_site.repo.root)
    again = GitRepo.init(own_site.repo.root)
    again.commit("other", {"kept.py": "def total_of_the_second():\n    return 2\n"})
    results = own_site.answer("search", query="total")["results"]
    assert [result["path"] for result in results] == ["kept.py"]
