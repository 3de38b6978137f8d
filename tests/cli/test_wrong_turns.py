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
