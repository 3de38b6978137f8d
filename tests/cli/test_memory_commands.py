"""`save`, `load`, `forget`, `usage` and `export` of contexts as typed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from forked_commands import codelens_text
from gitrepo import GitRepo
from shop_repository import Run

from codelens.cli.argument_parser import UsageError, parse

LAMP = "def kindle(lamp):\n    return lamp\n"


class Shell:
    def __init__(self, scratch: Path) -> None:
        self.repo = GitRepo.init(scratch / "repo")
        self.repo.commit("one", {"src/lamp.py": LAMP})
        self.home = scratch / "home"

    def run(self, *args: str, code: int = 0, stdin: str = "", cwd: Path | None = None, **env: str):
        folder = cwd or self.repo.root
        done = codelens_text(*args, cwd=folder, home=self.home, given=stdin, env=env)
        assert done.returncode == code, done.stdout + done.stderr
        return done


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.mark.slow
def test_a_note_is_saved_found_and_forgotten(shell: Shell) -> None:
    out = shell.run(
        "save", "lamps", "./lamp.py#kindle", "--note", "-", "--tag", "a", "--tag", "b", "--ttl",
        "30d", stdin="They burn.\nAlways.\n", cwd=shell.repo.root / "src",
    ).stdout  # fmt: skip
    first, *rest = out.splitlines()
    assert first.startswith("saved lamps  note · saved 20")
    assert " · expires 20" in first and first.endswith(" · tags a, b")
    assert rest == ["  They burn.", "  Always.", "  current  src/lamp.py#kindle  1-2"]
    listed = shell.run("load").stdout
    assert listed == "lamps\tnote · 1 handle: 1 current · They burn. Always.\n"
    assert "  current  src/lamp.py#kindle  1-2" in shell.run("load", "burning").stdout
    assert shell.run("forget", "lamps").stdout == "forgot lamps\n"
    assert "note: nothing is saved\n" in shell.run("load", code=1).stderr


@pytest.mark.slow
def test_expired_contexts_are_listed_and_deleted_on_request(shell: Shell) -> None:
    shell.run("save", "brief", "--note", "once", "--ttl", "1m")
    old = json.loads(shell.run("export", "contexts").stdout)
    old["contexts"][0]["expires_s"] = 1000
    shell.run("load", "--import", "-", "--replace", stdin=json.dumps(old))
    said = shell.run("load", code=1).stderr
    hint = "1 expired context is not shown: `codelens load --expired` shows it"
    assert hint in said and "nothing is saved" not in said
    assert shell.run("prune", "--yes").returncode == 0
    assert shell.run("load", "--expired").stdout.startswith("brief\tnote · EXPIRED 1970-01-01")
    both = shell.run("forget", "brief", "--expired", code=2).stderr
    assert "names and all expired contexts cannot be combined" in both
    assert "nothing to forget" in shell.run("forget", code=2).stderr
    assert shell.run("forget", "--expired").stdout == "forgot brief\n"
    assert shell.run("forget", "--expired").stdout == "nothing has expired\n"
    assert json.loads(shell.run("forget", "--expired", "--json").stdout)["forgotten"] == []


@pytest.mark.slow
def test_errors_take_one_line_with_a_remedy(shell: Shell) -> None:
    said = shell.run("save", "x", "kindel", code=2).stderr
    assert (
        said.startswith("codelens: error: nothing was saved: 'kindel' was not found")
        and "#kindle" in said
    )
    shell.run("save", "x", "--note", "one")
    assert "--replace" in shell.run("save", "x", "--note", "two", code=2).stderr
    assert "did you mean x?" in shell.run("forget", "xx", code=2).stderr
    assert "unknown tool or profile" in shell.run("serve", code=2, CODELENS_TOOLS="cl_sav").stderr
    assert "--import cannot be combined" in shell.run("load", "x", "--import", "-", code=2).stderr
    assert "omit --ref" in shell.run("export", "contexts", "--ref", "main", code=2).stderr
    assert "cannot read" in shell.run("load", "--import", "nowhere.json", code=2).stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["x", "--note", "two words", "kindle", "lamp.py"],
        ["x", "kindle", "--note", "two words", "lamp.py"],
        ["--note", "two words", "x", "kindle", "lamp.py"],
        ["x", "kindle", "lamp.py", "--note", "two words"],
        ["x", "--note", "two words", "--", "kindle", "lamp.py"],
        ["x", "--replace", "kindle", "--note", "two words", "lamp.py", "--json"],
        ["-C", ".", "x", "--tag", "a", "kindle", "-C", ".", "lamp.py", "--note", "two words"],
    ],
    ids=" ".join,
)
def test_words_and_options_come_in_any_order(arguments: list[str]) -> None:
    found = parse(["save", *arguments])
    assert (found.name, found.handle, found.note) == ("x", ["kindle", "lamp.py"], "two words")
    assert found.tags == [one for one in ("a",) if one in arguments]


def test_words_on_both_sides_of_an_option_are_one_query() -> None:
    found = parse(["load", "lamp", "--tag", "x", "oil", "--limit", "3", "--tag", "y", "wick"])
    assert (found.query, found.tags, found.limit) == (["lamp", "oil", "wick"], ["x", "y"], 3)
    found = parse(["load", "--adopt", "/was/here"])
    assert (found.query, found.adopt) == ([], "/was/here")
    found = parse(["search", "parse", "--limit", "3", "session"])
    assert (found.query, found.limit) == (["parse", "session"], 3)


def test_unrecognized_arguments_are_named() -> None:
    with pytest.raises(UsageError, match=r"arguments: --bogus.*to search for '--bogus' as text"):
        parse(["save", "x", "--note", "n", "kindle", "--bogus"])
    with pytest.raises(UsageError, match=r"unrecognized arguments: two;(?!.*put --)"):
        parse(["usage", "--json", "two"])


def test_a_context_is_saved_as_the_help_writes_it(shell: Shell) -> None:
    said = shell.run("save", "lamps", "--note", "lit by hand", "kindle", "src/lamp.py").stdout
    assert "lit by hand" in said and said.count("current") == 2


def test_an_export_is_imported_and_overwrites_nothing(shell: Shell, tmp_path: Path) -> None:
    shell.run("save", "lamps", "kindle", "--note", "one")
    exported = shell.run("export", "contexts").stdout
    clone = GitRepo.clone(shell.repo.root, tmp_path / "clone").root
    said = shell.run("load", "--import", "-", "-C", str(clone), stdin=exported).stdout
    assert said == "added 1: lamps\n"
    shell.run("save", "lamps", "--note", "two", "--replace", "-C", str(clone))
    done = shell.run("load", "--import", "-", "-C", str(clone), stdin=exported, code=1)
    assert done.stdout.startswith("skipped 1, the name is already taken: lamps")
    assert "--replace uses the imported ones" in done.stderr


@pytest.mark.slow
def test_an_import_of_many_names_a_few(shell: Shell) -> None:
    shell.run("save", "lamps", "--note", "one")
    exported = json.loads(shell.run("export", "contexts").stdout)
    (one,) = exported["contexts"]
    exported["contexts"] = [{**one, "name": f"lamp{number:04}"} for number in range(1500)]
    whole = json.dumps(exported)
    assert shell.run("load", "--import", "-", stdin=whole).stdout == (
        f"added 1,500: {', '.join(f'lamp{number:04}' for number in range(10))} and 1,490 more "
        "(--json has all)\n"
    )
    assert (
        len(json.loads(shell.run("load", "--import", "-", "--json", stdin=whole).stdout)["same"])
        == 1500
    )


def test_a_moved_repository_learns_how_to_recover_its_contexts(
    shell: Shell, tmp_path: Path
) -> None:
    shell.run("save", "lamps", "kindle")
    shell.repo.root.rename(tmp_path / "moved")
    there = tmp_path / "moved"
    done = shell.run("load", cwd=there, code=1)
    assert done.stdout == ""
    assert f"1 context saved when this repository was at '{shell.repo.root}/.git'" in done.stderr
    assert "`codelens load --adopt`" in done.stderr
    assert shell.run("load", "--adopt", cwd=there).stdout.startswith("added 1 from ")
    assert shell.run("load", cwd=there).stdout.startswith("lamps\t")


def test_json_has_all_of_a_context(shell: Shell) -> None:
    shell.run("save", "lamps", "kindle", "--json")
    (one,) = json.loads(shell.run("load", "--json").stdout)["results"]
    assert one["items"][0] == {
        "status": "current", "handle": "src/lamp.py#kindle", "was": "src/lamp.py#kindle",
        "start_line": 1, "end_line": 2, "near": [], "ref": "",
    }  # fmt: skip
    assert one["expires"] is None and one["saved"].endswith("Z")


def test_a_note_cannot_command_a_terminal(shell: Shell) -> None:
    out = shell.run("save", "x", "--note", "red \x1b[31m", "--tag", "t\u202e", code=2)
    assert "a tag must have" in out.stderr and "\u202e" not in out.stderr
    assert "\x1b" not in shell.run("save", "x", "--note", "red \x1b[31m").stdout


@pytest.mark.slow
def test_usage_counts_printed_text(shell: Shell) -> None:
    assert shell.run("usage", code=1).stdout.startswith("0 calls in 30 days")
    printed = len(shell.run("expand", "src/lamp.py").stdout)
    shell.run("search", "kindle", CODELENS_USAGE="off")
    usage = json.loads(shell.run("usage", "--json").stdout)
    assert usage["total"]["calls"] == 1
    assert usage["total"]["served_bytes"] == printed
    assert [one["name"] for one in usage["by_repository"]] == [str(shell.repo.root)]
    rows = shell.run("usage", "--by", "tool").stdout.splitlines()
    assert rows[1].startswith("  (whole files: ")
    assert rows[3] == "by tool" and rows[4].startswith("  expand  1  █")


def test_a_note_from_a_closed_stdin_is_an_error(
    repo: GitRepo, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    ran = run("save", "kept", "--note", "-")
    sys.stdin.close()  # the command's replacement for stdin
    assert (ran.code, ran.out) == (2, "")
    assert "stdin is closed" in ran.err
