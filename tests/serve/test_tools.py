"""The answers of the tools that find and read code, within their tokens."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from gitrepo import GitRepo
from mcp_lines import COMMAND
from sdk_client import Asker

from codelens.render import token_budget


@pytest.mark.slow
def test_the_graph_tools_answer_in_lines_and_in_json(asker: Asker, repo: GitRepo) -> None:
    repo.write("src/use.py", "from auth import Session\n\n\ndef go():\n    return Session()\n")
    text = asker.text("cl_related", target="Session", kinds="callers")
    assert "\ncalled by (2)\n" in text
    assert "\n  src/use.py#go  4-5  at :5" in text
    assert json.loads(asker.text("cl_related", target="Session", format="json"))["totals"]
    assert "src/use.py#go" in asker.text("cl_impact", targets="Session")
    assert "added  src/use.py#go" in asker.text("cl_impact", diff="HEAD")
    assert "src/auth.py" in asker.text("cl_map", max_tokens=500)
    short = asker.text("cl_map", max_tokens=200, format="json")
    assert len(json.loads(short)["results"]) <= 1


def test_explore_fills_its_tokens_only_if_they_are_given(asker: Asker, repo: GitRepo) -> None:
    body = "".join(f"    step_{at} = oil(lamp, {at})\n" for at in range(30))
    repo.write_all({f"f{at}.py": f"def lamp_{at}(lamp):\n{body}" for at in range(40)})
    asked = {"task": "oil the lamp", "again": True}
    usual = token_budget.cost_of(asker.text("cl_explore", **asked))
    filled = token_budget.cost_of(asker.text("cl_explore", **asked, max_tokens=8000))
    assert usual < 4000 and 7000 < filled <= 8000
    as_json = json.loads(asker.text("cl_explore", **asked, format="json"))
    assert as_json["results"] and as_json["named"]


@pytest.mark.parametrize("form", ["concise", "json"])
def test_an_answer_stays_within_its_tokens_and_counts_omissions(
    asker: Asker, repo: GitRepo, form: str
) -> None:
    repo.write("many.py", "".join(f"def lantern_{at}():\n    pass\n\n\n" for at in range(300)))
    repo.write_all({f"f{at}.py": f"def f{at}(): return 'oil lamp'\n" for at in range(50)})
    arguments = {"query": "oil lamp", "mode": "text", "limit": 50, "format": form}
    text = asker.text("cl_search", **arguments, max_tokens=400)
    assert len(text.encode()) <= 3 * 400
    assert "more" in (json.loads(text) if form == "json" else text.splitlines()[-1])
    text = asker.text("cl_outline", target="many.py", max_tokens=400)
    assert len(text.encode()) <= 3 * 400
    assert text.splitlines()[-1].endswith(
        "call cl_outline with a higher max_tokens or for a part of it"
    )


def test_a_long_text_is_cut_by_lines_and_says_how_to_go_on(asker: Asker, repo: GitRepo) -> None:
    repo.write("long.txt", "".join(f"row {at}\n" for at in range(1, 5001)))
    text = asker.text("cl_expand", handles=["long.txt", "src/auth.py"], max_tokens=400)
    assert len(text.encode()) <= 3 * 400
    body, more = text.splitlines()[-2:]
    assert more == '1 more: call cl_expand with handles ["src/auth.py"]'
    last = int(body.split("after line ")[1].split(";")[0])
    assert f"row {last}\n" in text and f"row {last + 1}\n" not in text
    assert f"continue with long.txt:{last + 1}-" in body


def test_one_line_longer_than_the_answer_is_cut_inside(asker: Asker, repo: GitRepo) -> None:
    repo.write("min.js", f"var a={'1+' * 50_000}1;")
    text = asker.text("cl_expand", handles=["min.js"], max_tokens=400)
    assert len(text.encode()) <= 3 * 400
    assert "[line cut]" in text
    assert "line 1 is too long and was truncated" in text and "continue with" not in text
    repo.write("min.js", f"var a={'1+' * 50_000}1;\nlast();\n")
    text = asker.text("cl_expand", handles=["min.js"], max_tokens=400)
    assert text.splitlines()[-1].endswith("continue with min.js:2")
    assert "last();" in asker.text("cl_expand", handles=["min.js:2"])


def test_a_full_page_claims_nothing_about_more(asker: Asker) -> None:
    text = asker.text("cl_search", query="login", limit=1)
    assert "more" not in text.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["concise", "detailed", "json"])
@pytest.mark.parametrize("max_tokens", [250, 400, 900])
def test_the_graph_tools_keep_to_max_tokens(
    asker: Asker, repo: GitRepo, form: str, max_tokens: int
) -> None:
    body = "".join(
        f"def user_of_sessions_number_{at}(one: Session) -> None:\n    Session({at})\n\n\n"
        for at in range(60)
    )
    repo.write("src/many.py", f"from src.auth import Session\n\n\n{body}")
    tests = body.replace("user", "test")
    repo.write("tests/test_many.py", f"from src.auth import Session\n\n\n{tests}")
    limits = {"format": form, "max_tokens": max_tokens}
    for tool, arguments in (
        ("cl_related", {"target": "Session", "limit": 500}),
        ("cl_impact", {"targets": "Session", "limit": 500}),
        ("cl_impact", {"diff": "HEAD"}),
        ("cl_map", {}),
    ):
        text = asker.text(tool, **arguments, **limits)
        assert token_budget.cost_of(text) <= max_tokens, tool
        if form == "json":
            found = json.loads(text)
            assert "receipt" in found
            if "limit" in arguments:
                assert found["more"]["results"] > 0
        elif "limit" in arguments:
            assert f"more: call {tool} with" in text.splitlines()[-1]


def test_search_gives_handles_under_a_receipt(asker: Asker, repo: GitRepo) -> None:
    head, first, *_ = asker.text("cl_search", query="validate").splitlines()
    assert head.startswith(f"[fresh · main@{repo.head()[:7]} · 2 files checked")
    assert str(repo.root) in head
    place = "src/auth.py#Session.validate"
    shown = "method def validate(self, token)  -- Tell whether the token holds. (defines it)"
    assert first == f"{place}\t4-6 {shown}"
    assert "def validate" in asker.text("cl_expand", handles=[first.split("\t")[0]])


def test_detailed_search_shows_reasons(asker: Asker) -> None:
    assert "score" in asker.text("cl_search", query="validate", format="detailed")


def test_a_name_that_is_defined_is_followed_by_few_others(asker: Asker, repo: GitRepo) -> None:
    repo.write_all({f"use{at}.py": f"import auth\nvalidate({at})\n" for at in range(8)})
    rows = asker.text("cl_search", query="validate").splitlines()
    assert len(rows) == 6
    assert rows[-1] == "5 more that do not define it: call cl_search with format detailed"
    assert len(json.loads(asker.text("cl_search", query="validate", format="json"))["results"]) == 9
    assert "more" not in asker.text("cl_search", query="validate", format="detailed")


@pytest.mark.slow
def test_search_as_json_equals_the_command_lines_output(asker: Asker, repo: GitRepo, env) -> None:
    answer = json.loads(asker.text("cl_search", query="validate", format="json"))
    command = [*COMMAND[:-1], "search", "validate", "--json", "-C", str(repo.root)]
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, check=True)
    assert answer["results"] == json.loads(done.stdout)["results"]


def test_a_search_is_reranked_on_request(asker: Asker, repo: GitRepo) -> None:
    """`auto` and `off` need no reranker; several repositories have none."""
    for rerank in ("auto", "off"):
        assert "validate" in asker.text("cl_search", query="token validate", rerank=rerank)
    for arguments, why in (
        ({}, "no reranker is set up for this repository; leave out `rerank`"),
        ({"repositories": [str(repo.root)]}, "rerank cannot be used with `repositories`"),
    ):
        refused = asker.result("cl_search", query="token validate", rerank="on", **arguments)
        assert refused.is_error and why in str(refused.content)


def test_nothing_found_is_not_an_error(asker: Asker) -> None:
    assert "nothing found" in asker.text("cl_search", query="zzyzx_quux")


def test_expand_reads_many_handles_and_names_the_one_it_cannot(asker: Asker) -> None:
    text = asker.text("cl_expand", handles=["src/auth.py#login", "README.md:1", "logn"])
    assert "==> src/auth.py#login  src/auth.py:9-10\ndef login(name):\n    return Session()" in text
    assert "==> README.md:1  README.md:1\n# Top" in text
    assert "ERROR 'logn'" in text and "src/auth.py#login" in text.rpartition("ERROR")[2]


def test_expand_of_nothing_that_exists_is_an_error(asker: Asker) -> None:
    assert "src/auth.py#login" in asker.error("cl_expand", handles=["src/auth.py#logn"])


def test_outline_folds(asker: Asker) -> None:
    text = asker.text("cl_outline", target="src/auth.py")
    assert "src/auth.py  python, 10 lines, ~" in text
    assert "  4-6    def validate(self, token)  -- Tell whether the token holds." in text
    assert "src/  1 file, ~" in asker.text("cl_outline")


def test_current_shows_the_worktree(asker: Asker, repo: GitRepo) -> None:
    text = asker.text("cl_current")
    assert f"where: {repo.root} (worktree)" in text
    assert json.loads(asker.text("cl_current", format="json"))["status"]["branch"] == "main"


def test_a_ref_is_read_without_a_checkout(asker: Asker, repo: GitRepo) -> None:
    repo.git("tag", "v1")
    repo.commit("second", {"src/auth.py": "def log_in(): pass\n"})
    assert "v1:src/auth.py#login" in asker.text("cl_search", query="login", ref="v1")
    assert "def login" in asker.text("cl_expand", handles=["v1:src/auth.py#login"])
    assert "def login" in asker.text("cl_outline", target="src/auth.py", ref="v1")
    assert "def login" in asker.text("cl_outline", target="v1:src/auth.py")
