"""Arguments of the tools: interpreted as intended, or refused in a sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import get_args

import pytest
from gitrepo import GitRepo
from sdk_client import Asker, client, text_of

from codelens.engine.graph.relation_choice import Relation
from codelens.serve.first_turn import RECORD
from codelens.serve.tool_arguments import normalized_arguments

SCHEMAS = {
    tool["name"]: tool["inputSchema"]
    for tool in json.loads(RECORD.read_text("utf-8"))["shared"]["tools/list"]["tools"]
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("cl_expand", {"handles": ["a"] * 101},
         "handles takes at most 100 per call, not 101; split them over several calls."),
        ("cl_expand", {"handles": []},
         'handles is empty; give at least 1, such as ["src/auth.py#Session.validate"].'),
        ("cl_expand", {"handles": ["a", None]}, "handles must be a list of strings such as "
         '["src/auth.py#Session.validate"], not with null.'),
        ("cl_expand", {"handles": None}, "cl_expand needs handles, a list of strings such as"),
        ("cl_expand", {}, "cl_expand needs handles, a list of strings such as"),
        ("cl_outline", {"targets": "a"},
         "cl_outline has no argument 'targets'; did you mean target? It takes target, detail,"),
        ("cl_search", {"query": "x", "limit": 0},
         "limit must be a whole number from 1 to 100, such as 10, not 0."),
        ("cl_search", {"query": "x", "limit": True},
         "limit must be a whole number from 1 to 100, such as 10, not true."),
        ("cl_search", {"query": "x", "limit": "many"},
         "limit must be a whole number from 1 to 100, such as 10, not 'many'."),
        ("cl_search", {"query": "x", "mode": "psychic"},
         "mode must be one of auto, symbol, text, regex, path, not 'psychic'."),
        ("cl_search", {"query": ["a", "b"]},
         "query must be a string such as \"parse cookies\", not ['a', 'b']."),
        ("cl_search", {"query": "x", "words": "python"},
         "cl_search has no argument 'words'; it takes query, mode, languages, globs,"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_refused_in_a_sentence(
    asker: Asker, tool: str, arguments: dict, said: str
) -> None:
    text = asker.error(tool, **arguments)
    assert text.startswith(said)
    assert "http" not in text and "\n" not in text


def test_null_for_an_argument_that_may_be_left_out_counts_as_left_out(asker: Asker) -> None:
    plain = asker.text("cl_search", query="login", format="json")
    nulls = dict.fromkeys(("mode", "languages", "globs", "kinds", "content", "limit", "ref"))
    answers = asker.text("cl_search", query="login", format="json", max_tokens=None, **nulls)
    assert json.loads(answers)["results"] == json.loads(plain)["results"]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("cl_search", {"query": ""}, "empty"),
        ("cl_search", {"query": "x", "path": "/no/such/place"}, "no such path"),
        ("cl_search", {"query": "x", "path": "repo"}, "must be absolute"),
        ("cl_search", {"query": "x", "path": "/"}, "pass path"),
        ("cl_search", {"query": "x", "ref": "nosuch"}, "nosuch"),
        ("cl_search", {"query": "x", "mode": "psychic"}, "mode"),
        ("cl_search", {"query": "x", "lang": "python"}, "lang"),
        ("cl_search", {}, "query"),
        ("cl_search", {"query": "(", "mode": "regex"}, "pattern"),
        ("cl_outline", {"target": "src/auht.py"}, "src/auth.py"),
        ("cl_outline", {"target": "../outside"}, "outside the worktree"),
        ("cl_expand", {"handles": []}, "handles"),
    ],
)
def test_an_error_is_a_tool_error_with_a_remedy(
    asker: Asker, tool: str, arguments: dict, said: str
) -> None:
    text = asker.error(tool, **arguments)
    assert said in text
    assert "Traceback" not in text


@pytest.mark.parametrize("query", ['"; DROP TABLE', "a\0b", "🙂" * 300, "x" * 10_000, "NEAR( OR *"])
def test_a_hostile_query_is_answered_or_refused(asker: Asker, query: str) -> None:
    assert "unexpected" not in text_of(asker.result("cl_search", query=query))


def test_unknown_relations_are_reported_with_the_known_ones(asker: Asker) -> None:
    failed = asker.error("cl_related", target="Session", kinds=["bogus"])
    assert failed == (
        "kinds must be a list of callers, callees, users, uses, importers, imports, bases, "
        "subtypes, overrides, overridden, tests, belongs_to, defines, exports, not with 'bogus'."
    )
    assert "direction" in asker.error(
        "cl_related", target="Session", kinds=["callers"], direction="out"
    )


def test_one_handle_may_be_given_without_a_list(asker: Asker) -> None:
    assert "def login" in asker.text("cl_expand", handles="src/auth.py#login")


@pytest.fixture(scope="module")
def every(env: dict[str, str]) -> Iterator[Asker]:
    """A server with all tools."""
    with client({**env, "CODELENS_TOOLS": "all"}, "--budget", "60000") as found:
        yield found


@pytest.mark.parametrize(
    ("tool", "given", "meant"),
    [
        ("cl_prune", {"dry_run": " false "}, {"dry_run": "false"}),
        ("cl_prune", {"dry_run": "", "format": "null"}, {}),
        ("cl_search", {"query": ["x"], "mode": " TEXT", "limit": ""},
         {"query": "x", "mode": "text"}),
        ("cl_search", {"query": "", "path": ""}, {"query": "", "path": ""}),
        ("cl_save", {"name": "x", "category": "Bug-fix"}, {"name": "x", "category": "bug_fix"}),
        ("cl_related", {"target": "x", "kinds": "Callers, tests"},
         {"target": "x", "kinds": ["callers", "tests"]}),
        ("cl_related", {"target": ["a", "b"], "kinds": '["callers"]'},
         {"target": ["a", "b"], "kinds": '["callers"]'}),
        ("cl_search", {"query": None, "no_such": None}, {"query": None, "no_such": None}),
    ],
)  # fmt: skip
def test_unambiguous_arguments_are_accepted(tool: str, given: dict, meant: dict) -> None:
    assert normalized_arguments(SCHEMAS[tool], given) == meant


@pytest.mark.parametrize(
    ("tool", "loose", "strict"),
    [
        ("cl_search", {"query": "login", "limit": "1"}, {"query": "login", "limit": 1}),
        ("cl_search", {"query": 404}, {"query": "404"}),
        ("cl_search", {"query": "login", "languages": "python, go", "kinds": "function,class"},
         {"query": "login", "languages": ["python", "go"], "kinds": ["function", "class"]}),
        ("cl_search", {"query": "login", "globs": "src/{auth,x}.py, docs/**"},
         {"query": "login", "globs": ["src/{auth,x}.py", "docs/**"]}),
        ("cl_search", {"query": "login", "languages": '["python"]'},
         {"query": "login", "languages": ["python"]}),
        ("cl_expand",
         {"handles": "src/auth.py#login, src/auth.py#Session\nREADME.md", "again": "true"},
         {"handles": ["src/auth.py#login", "src/auth.py#Session", "README.md"], "again": True}),
        ("cl_impact", {"targets": "login", "depth": "2"}, {"targets": ["login"], "depth": 2}),
    ],
)  # fmt: skip
def test_loose_arguments_are_answered_as_strict_ones(
    asker: Asker, tool: str, loose: dict, strict: dict
) -> None:
    answers = [json.loads(asker.text(tool, format="json", **one)) for one in (loose, strict)]
    for one in answers:
        del one["receipt"]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("name", ["Notes, part 2.md", "of a,b.md"])
def test_a_name_with_a_comma_is_one_handle(asker: Asker, repo: GitRepo, name: str) -> None:
    repo.write(name, "Lanterns burn.\n")
    assert "Lanterns burn." in asker.text("cl_expand", handles=name)


@pytest.mark.slow
def test_a_boolean_as_text_is_parsed(every: Asker, repo: GitRepo) -> None:
    asker = every.at(repo.root)
    asker.text("cl_search", query="login")
    assert asker.text("cl_prune", dry_run="true").startswith("dry run")
    assert not asker.text("cl_prune", dry_run="False").startswith("dry run")
    assert asker.error("cl_prune", dry_run="maybe") == "dry_run must be true or false, not 'maybe'."
    assert asker.error("cl_drop", repository="x") == "repository must be true or false, not 'x'."
    assert asker.error("cl_drop", view="main", force="false").endswith(
        "; force: true removes it anyway"
    )


@pytest.mark.parametrize(
    ("tool", "argument"),
    [(tool, name) for tool, schema in SCHEMAS.items() for name in schema["properties"]],
)
def test_every_argument_says_what_it_takes(every: Asker, tool: str, argument: str) -> None:
    needed = {name: "x" for name in SCHEMAS[tool].get("required", ()) if name != argument}
    said = every.error(tool, **{**needed, argument: {"a": 1}})
    assert said.startswith(f"{argument} must be ") and said.endswith(", not {'a': 1}.")


def test_relations_are_listed_whole(every: Asker) -> None:
    said = every.error("cl_related", target="x", kinds=7)
    assert said == f"kinds must be a list of {', '.join(get_args(Relation))}, not 7."


@pytest.mark.slow
def test_errors_advise_valid_arguments_of_a_tool(every: Asker, repo: GitRepo) -> None:
    asker = every.at(repo.root)
    asker.text("cl_save", name="lamps", note="they burn")
    said = [
        asker.error("cl_save", name="lamps", note="they do not"),
        asker.error("cl_save", name="new", handles=["nowhere.py"]),
        asker.error("cl_forget", names=["nothing"]),
        asker.error("cl_drop", view="nowhere"),
        asker.error("cl_drop", view="main"),
        asker.error("cl_drop"),
        asker.error("cl_search", query="x", languages=["klingon"]),
        asker.error("cl_search", query="x", path="/"),
        asker.error("cl_search", query="(", mode="regex"),
    ]
    assert not [one for one in said if "--" in one or "`codelens" in one]
    assert "replace: true" in said[0] and "nothing was saved: 'nowhere.py'" in said[1]
    assert "no saved note matches" in asker.text("cl_load", category="decision")
