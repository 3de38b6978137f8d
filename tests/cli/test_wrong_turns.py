"""A mistyped name is answered with the right one first."""

from __future__ import annotations

import pytest
from gitrepo import GitRepo
from shop_repository import Run

GO = """package web

type Context struct {
	Keys map[string]any
	writer Writer
}

func (c *Context) ClientIP() string { return c.header("X") }

func (c *Context) header(name string) string { return name }

type Writer struct{}

func (w *Writer) Render() { }
func (c *Context) Render() { c.writer.Render() }
func run(c *Context) { c.Render() }
func flush(w *Writer) { w.Render() }
"""
CONSTANTS = "".join(f"const MIME{at} = {at}\n" for at in range(60))
FILES = {
    "context.go": GO.replace("type Context", f"{CONSTANTS}\ntype Context"),
    "sub/errors.go": "package sub\n\nvar Error = 1\n",
    "Makefile": "GO ?= go\n\ntest:\n\t$(GO) test\n",
    "tree.go": "package web\n\ntype node struct {\n\tnope int\n}\n",
}


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    folder = tmp_path_factory.mktemp("wrong")
    origin = GitRepo.init(folder / "origin")
    origin.commit("first", FILES)
    origin.git("branch", "stable-2.16")
    origin.commit("second", {"tree.go": "package web\n\ntype node struct {\n\tnope string\n}\n"})
    origin.git("clone", "-q", str(origin.root), str(folder / "clone"))
    return GitRepo(folder / "clone")


@pytest.fixture(autouse=True)
def there(wrong: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODELENS_HOME", str(wrong.root.parent / "home"))
    monkeypatch.chdir(wrong.root)


@pytest.mark.parametrize(
    ("command", "first", "absent"),
    [
        ("expand contxt.go", "nearest: context.go", "Makefile"),
        ("outline contxt.go", "nearest: context.go", "Makefile"),
        ("expand errors2.go", "nearest: sub/errors.go", "Makefile"),
        ("expand Context.Nope", "(Context has no Nope); nearest: context.go#Context", "tree.go"),
        ("related Context.ClientIPP", "nearest: context.go#Context.ClientIP", "Writer"),
        ("expand ClientIPP", "nearest: context.go#Context.ClientIP", "MIME"),
        (
            "expand context.go#Context.ClientIPP",
            "context.go defines Context.ClientIP",
            "MIME20",
        ),
        ("search x --ref stable-2.16", "did you mean origin/stable-2.16?", "for-each-ref"),
        ("diff stable-2.16", "did you mean origin/stable-2.16?", "for-each-ref"),
        ("conflicts --with stable-2.16", "did you mean origin/stable-2.16", "for-each-ref"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_one_first(
    run: Run, command: str, first: str, absent: str
) -> None:
    ran = run(*command.split())
    assert ran.code == 2 and first in ran.err and absent not in ran.err, ran.err


def test_two_refs_are_compared_as_git_does(run: Run) -> None:
    answers = [
        run("diff", *spec, "--json").json
        for spec in (["HEAD~1", "HEAD"], ["HEAD~1..HEAD"], ["HEAD~1 HEAD"])
    ]
    for answer in answers:
        del answer["receipt"]
    assert answers[0] == answers[1] == answers[2] and answers[0]["results"]


def test_a_name_of_several_definitions_is_said_to_be_that_at_first(run: Run) -> None:
    ran = run("related", "Render")
    lines = ran.out.splitlines()
    assert lines[0].startswith("2 definitions have that name"), ran.out
    assert "context.go#Writer.Render" in lines[1] and "context.go#Context.Render" in lines[2]
    owners = run("related", "Render", "--json").json["owners"]
    assert [owner["symbol"] for owner in owners] == ["Writer.Render", "Context.Render"]


def test_the_users_of_each_definition_of_a_name_are_apart(run: Run) -> None:
    """`run` calls only `Context.Render`, `flush` only `Writer.Render`, which the former calls."""
    answer = run("related", "Render", "--kind", "callers", "--json").json
    callers = [(row["owner"], row["symbol"]) for row in answer["results"]]
    writer, context = "context.go#Writer.Render", "context.go#Context.Render"
    assert sorted(callers) == [
        (context, "run"), (writer, "Context.Render"), (writer, "flush"),
    ]  # fmt: skip
    assert answer["totals"] == {"callers": 3} and callers[0][0] == writer
    text = run("related", "Render", "--kind", "callers").out
    of_writer, of_context = text.partition(f"of {writer}")[2].split(f"of {context}")
    assert "#flush" in of_writer and "#run" not in of_writer, text
    assert "#run" in of_context and "#flush" not in of_context, text


def test_the_lines_of_each_definition_of_a_name_are_apart(run: Run) -> None:
    ran = run("references", "Render")
    lines = ran.out.splitlines()
    assert lines[0].startswith("2 definitions have that name; the answer is grouped"), lines
    assert "#Writer.Render" in lines[1] and lines[1].endswith("(2 lines)")
    assert "#Context.Render" in lines[2] and lines[2].endswith("(1 line)")
    assert lines[3].startswith("3 lines certainly use one; "), lines
    writer, context = "context.go#Writer.Render", "context.go#Context.Render"
    of_context, of_writer = ran.out.partition(f"of {context}\n")[2].split(f"of {writer}\n")
    assert "#flush" in of_writer and "#run" not in of_writer, ran.out
    assert "#run" in of_context and "#flush" not in of_context, ran.out
    answer = run("references", "Render", "--json").json
    assert len(answer["owners"]) == 2 and not any("that name" in note for note in answer["notes"])
    assert answer["owner_lines"] == [2, 1]
    used = [(row["owners"], row["within"].partition("#")[2]) for row in answer["results"]]
    assert used == [([context], "run"), ([writer], "Context.Render"), ([writer], "flush")]


def test_the_pages_of_a_name_of_several_definitions_list_each_line_once(run: Run) -> None:
    whole = run("references", "Render", "--json").json["results"]
    cursor, pages = "", list[object]()
    while True:
        after = ("--cursor", cursor) if cursor else ()
        page = run("references", "Render", "--json", "--limit", "1", *after).json
        pages += page["results"]
        cursor = page["cursor"]
        if not cursor:
            break
    assert pages == whole and len(whole) > 2


def test_impact_of_each_definition_of_a_name_is_apart(run: Run) -> None:
    """`Context.Render` calls `Writer.Render`: a change of it is also an effect of the other."""
    ran = run("impact", "Render")
    lines = ran.out.splitlines()
    assert lines[0].startswith("2 definitions have that name; the answer is grouped"), lines
    writer, context = "context.go#Writer.Render", "context.go#Context.Render"
    of_writer, of_context = ran.out.partition(f"of {writer}")[2].split(f"of {context}")
    assert "#flush" in of_writer and "#Context.Render" in of_writer, ran.out
    assert "#run" in of_context and "#flush" not in of_context, ran.out
    answer = run("impact", "Render", "--json").json
    assert [owner["handle"] for owner in answer["owners"]] == [writer, context]
    direct = {(row["owner"], row["symbol"]) for row in answer["results"] if row["distance"] == 1}
    assert direct == {(writer, "Context.Render"), (writer, "flush"), (context, "run")}
    indirect = {(row["owner"], row["symbol"]) for row in answer["results"] if row["distance"] == 2}
    assert indirect == {(writer, "run")}
    assert answer["totals"] == {"1": 3} and not any("that name" in note for note in answer["notes"])
    few = run("impact", "Render", "--json", "--limit", "2").json["results"]
    assert {row["owner"] for row in few} == {writer, context}


def test_impact_of_a_name_and_another_target_is_one_list(run: Run) -> None:
    answer = run("impact", "Render", "flush", "--json").json
    assert "owners" not in answer and all("owner" not in row for row in answer["results"])
    assert any("2 definitions have that name" in note for note in answer["notes"])


def test_a_definition_of_a_name_that_nothing_uses_says_so(run: Run) -> None:
    """The one of no uses is listed too, with no use of the other."""
    text = run("related", "Render", "--kind", "subtypes").out
    assert text.count("nothing certain") == 2, text


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("client_ip", "defines it, spelled otherwise"),
        ("ClientIP", "defines it"),
        ("clientip missing", "1 of 2 words in it"),
    ],
)
def test_a_reason_is_a_sentence(run: Run, query: str, why: str) -> None:
    results = run("search", query, "--json").json["results"]
    assert why in results[0]["why"], results[0]
