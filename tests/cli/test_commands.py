"""The command line: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from auth_files import AUTH, FILES
from gitrepo import GitRepo

from codelens import __version__
from codelens.cli.argument_parser import parse
from codelens.cli.command_examples import EXAMPLES


@pytest.fixture
def committed() -> dict[str, str]:
    return FILES


@pytest.mark.parametrize(
    "args",
    [
        ("search", ""),
        ("search", "x", "-C", "/no/such/place"),
        ("search", "x", "--ref", "nosuch"),
        ("search", "(", "--mode", "regex"),
        ("search", "x", "--limit", "0"),
        ("search", "x", "--budget", "soon"),
        ("search", "x", "--mode", "psychic"),
        ("search",),
        ("expand", "src/auth.py#nosuch"),
        ("expand", "../outside"),
        ("expand", ""),
        ("outline", "nosuch"),
        ("status", "-C", "/"),
        ("export", "weather"),
        ("frobnicate",),
        ("--nonsense",),
    ],
)
def test_an_error_is_one_or_two_lines_on_stderr_and_exit_code_2(
    repo: GitRepo, run, args: tuple[str, ...]
) -> None:
    ran = run(*args)
    lines = ran.err.splitlines()
    assert ran.code == 2
    assert ran.out == ""
    assert lines[0].startswith("codelens: error: ")
    assert len(lines) <= 2
    assert "Traceback" not in ran.err


def test_a_setting_that_cannot_be_is_an_error(
    repo: GitRepo, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODELENS_WORKERS", "many")
    assert run("search", "x").code == 2


def test_status_shows_the_current_worktree(repo: GitRepo, run) -> None:
    ran = run("status")
    assert f"{repo.root} (worktree)" in ran.out
    assert f"main @ {repo.head()[:7]}, clean" in ran.out
    repo.write("src/auth.py", AUTH + "\n")
    assert "uncommitted changes" in run("status").out
    found = run("status", "--json").json
    assert found["status"]["dirty"] is True
    assert found["status"]["languages"] == {"markdown": 1, "python": 1}


def test_index_can_be_rebuilt(repo: GitRepo, run) -> None:
    assert run("index", "--json").json["receipt"]["indexed"] == 2
    assert run("index", "--json").json["receipt"]["indexed"] == 0
    assert run("index", "--rebuild", "--json").json["receipt"]["indexed"] == 2


def test_export_gives_every_definition_by_path_and_line(repo: GitRepo, run) -> None:
    repo.write("a.py", "def second(): pass\n")
    rows = [json.loads(line) for line in run("export", "symbols").out.splitlines()]
    assert rows[0] == {
        "path": "README.md", "name": "Top", "qualified_name": "Top", "kind": "heading",
        "start_line": 1, "end_line": 3, "line": 1, "exported": True, "language": "markdown",
    }  # fmt: skip
    assert [(row["path"], row["qualified_name"], row["line"]) for row in rows[1:]] == [
        ("a.py", "second", 1),
        ("src/auth.py", "Session", 1),
        ("src/auth.py", "Session.validate", 4),
        ("src/auth.py", "login", 9),
    ]


def test_any_ref_is_answered_without_a_checkout(repo: GitRepo, run) -> None:
    repo.git("tag", "v1")
    repo.commit("second", {"src/auth.py": "def log_in(): pass\n"})
    assert run("search", "login", "--ref", "v1").out.startswith("v1:src/auth.py#login\t9-10 ")
    assert run("expand", "v1:src/auth.py#login").code == 0
    assert "login" in run("outline", "src/auth.py", "--ref", "v1").out
    assert "validate" in run("outline", "v1:src/auth.py").out


def test_options_stand_before_or_after_the_command(
    repo: GitRepo, run, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("-C", str(repo.root), "search", "login").code == 0
    assert run("search", "login", "-C", str(repo.root / "src")).code == 0


def test_languages_are_listed(run) -> None:
    ran = run("languages", "--json")
    python = next(one for one in ran.json["results"] if one["name"] == "python")
    assert ".py" in python["extensions"]
    assert "python" in run("languages").out


def test_a_language_that_does_not_exist_is_an_error(repo: GitRepo, run) -> None:
    ran = run("search", "x", "--lang", "cobolt")
    assert ran.code == 2
    assert "unknown language 'cobolt'" in ran.err


def test_no_arguments_give_the_commands_to_know(run) -> None:
    ran = run()
    assert ran.code == 0
    assert ran.out.count("\n  codelens ") == 9


@pytest.mark.parametrize("command", ["", "search", "expand", "outline", "status", "index", "export",
                                     "languages", "serve"])  # fmt: skip
def test_every_command_has_help(run, command: str) -> None:
    ran = run(*([command] if command else []), "--help")
    assert ran.code == 0
    assert ran.out.startswith("usage: codelens")


def test_help_and_version_are_commands_too(run) -> None:
    assert run("help").out == run("--help").out
    assert run("help", "search").out == run("search", "--help").out
    assert run("version").out == run("--version").out == f"codelens {__version__}\n"
    assert "unknown command 'serch'; did you mean search?" in run("help", "serch").err


def test_every_command_has_examples_that_can_be_typed(run) -> None:
    listed = re.findall(r"(?m)^    (\w+) ", run("--help").out)
    # `hook` is for agents, and prints its own help.
    assert set(listed) - {"hook"} == EXAMPLES.keys()
    for command, rows in EXAMPLES.items():
        shown = run(command, "--help").out
        for typed, _ in rows:
            assert typed in shown
            for part in re.split(r" [|<] ", typed.partition(" > ")[0]):
                words = shlex.split(part)
                if words[0] == "codelens":
                    assert parse(words[1:]).command == words[1]


def test_an_argument_with_a_leading_dash_gets_a_hint(repo: GitRepo, run) -> None:
    for command in ("search", "expand"):
        assert "to search for '-foo' as text, put -- before it" in run(command, "-foo").err
        assert "--" not in run(command, "--", "-foo").err
    assert "put --" not in run("search").err


def test_version_is_printed_before_anything_is_loaded() -> None:
    code = (
        "import sys; from codelens.cli.main import main; main(['--version']); "
        "print({'argparse', 'json', 'codelens.engine', 'codelens.errors'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == f"codelens {__version__}\nset()\n"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("serch x", "unknown command 'serch'; did you mean search? `codelens --help` lists"),
        ("find x", "unknown command 'find'; `codelens --help` lists them"),
        ("search x --limt 3", "--limt 3; did you mean --limit? run `codelens search --help` for"),
        ("search --json", "to search for '--json' as text, put -- before it"),
        ("--json status", "--json must come after the command: `codelens status ... --json`"),
        ("status --al", "--al; did you mean --all? run `codelens status --help` for"),
        ("search x --bogus", "run `codelens search --help` for details; to search for '--bogus'"),
        ("outline a b", "unrecognized arguments: b; run `codelens outline --help` for details"),
        ("save", "the following arguments are required: name; run `codelens save --help`"),
        ("search x --mode regx", "invalid choice: 'regx'"),
        ("search x --mode regx", "did you mean regex? run `codelens search --help`"),
        ("install --host curser", "unknown host 'curser'; did you mean cursor? the hosts are amp"),
        ("load --import nowhere", "'nowhere': No such file or directory; give a file"),
    ],
)
def test_a_typo_gets_a_suggestion(repo: GitRepo, run, typed: str, said: str) -> None:
    ran = run(*typed.split())
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err and ran.err.count("\n") == 1
