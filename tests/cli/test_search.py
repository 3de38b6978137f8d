"""`codelens search`: its answers in a pipe, on a terminal and as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest
from auth_files import FILES
from gitrepo import GitRepo


@pytest.fixture
def committed() -> dict[str, str]:
    return FILES


def test_search_in_a_pipe_prints_a_line_a_result_with_its_handle_first(repo: GitRepo, run) -> None:
    ran = run("search", "validate")
    assert ran.code == 0
    handle, about = ran.out.splitlines()[0].split("\t")
    assert handle == "src/auth.py#Session.validate"
    shown = "method def validate(self, token)  -- Tell whether the token holds. (defines it)"
    assert about == f"4-6 {shown}"
    assert run("expand", handle).out.startswith("    def validate")


def test_search_on_a_terminal_prints_places_that_it_can_open(
    repo: GitRepo, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    place, handle = run("search", "validate").out.splitlines()[:2]
    assert place == "src/auth.py:4  method  def validate(self, token)  (defines it)"
    assert handle == "    src/auth.py#Session.validate"


def test_remarks_about_an_answer_go_to_stderr(repo: GitRepo, run) -> None:
    ran = run("search", "validate")
    head = repo.head()[:7]
    assert ran.err.splitlines()[-1].startswith(
        f"fresh · main@{head} · 2 files checked, 2 re-indexed"
    )
    assert "fresh" not in ran.out


def test_several_repositories_are_searched_together(repo: GitRepo, run, tmp_path: Path) -> None:
    lamps = GitRepo.init(tmp_path / "lamps")
    lamps.commit("lamps", {"lamps.py": "def light(lamp):\n    lamp.on()\n"})
    named = [word for root in (lamps.root, repo.root, "/gone") for word in ("--repository", root)]
    ran = run("search", "validate", *map(str, named))
    assert ran.code == 0
    handle = ran.out.split("\t")[0]
    assert handle == f"{repo.root}/src/auth.py#Session.validate"
    assert f"{lamps.root} · index" in ran.err and f"{repo.root} · index" in ran.err
    assert "error: /gone: no such path" in ran.err
    assert run("expand", f"{lamps.root}/lamps.py#light").out.startswith("def light")
    found = run("search", "validate", *map(str, named), "--json").json
    assert set(found) == {"query", "repositories", "results", "notes"}
    assert [part["root"] for part in found["repositories"]] == [
        str(lamps.root), str(repo.root), "/gone",
    ]  # fmt: skip
    assert set(found["repositories"][0]) == {"root", "receipt", "mode", "found", "notes"}
    assert set(found["repositories"][2]) == {"root", "receipt", "error"}
    assert run("search", "validate", "--repository", "/gone").code == 2


def test_search_as_json_has_the_documented_keys(repo: GitRepo, run) -> None:
    found = run("search", "validate", "--json").json
    assert set(found) == {"receipt", "query", "mode", "results", "notes"}
    assert set(found["results"][0]) == {
        "handle", "path", "start_line", "end_line", "symbol", "kind", "language", "score",
        "signature", "why", "doc",
    }  # fmt: skip
    assert set(found["receipt"]) == {
        "index_id", "worktree", "branch", "head", "status", "files", "checked", "indexed",
        "elapsed_ms", "pending", "unread", "pending_names", "note",
    }  # fmt: skip
    assert found["receipt"]["status"] == "fresh"
    assert found["results"][0]["handle"] == "src/auth.py#Session.validate"


def test_explain_shows_the_parts_of_the_score(repo: GitRepo, run) -> None:
    (first, *_) = run("search", "validate", "--json", "--explain").json["results"]
    assert first["explain"]
    assert " = " in run("search", "validate", "--explain").out


@pytest.mark.parametrize("form", [(), ("--json",), ("--explain",)])
def test_an_answer_keeps_to_its_tokens(repo: GitRepo, run, form: tuple[str, ...]) -> None:
    repo.write_all({f"f{at}.py": f"def f{at}(): return 'oil lamp'\n" for at in range(50)})
    command = ("search", "oil lamp", "--limit", "50", *form)
    ran = run(*command, "--max-tokens", "500")
    assert len((ran.out + ran.err).encode()) <= 3 * 500
    shown = ran.json["results"] if form == ("--json",) else ran.out.splitlines()
    assert 0 < len(shown) < 50
    if form != ("--json",):
        assert " more: raise --max-tokens" in ran.err
    assert " more" not in run(*command).err


def test_nothing_found_is_exit_code_1_and_no_error(repo: GitRepo, run) -> None:
    ran = run("search", "zzyzx_quux")
    assert (ran.code, ran.out) == (1, "")
    assert "error" not in ran.err


def test_a_file_found_as_a_whole_is_shown_without_a_line(repo: GitRepo, run) -> None:
    repo.write("pkg/__init__.py", "")
    lines = run("search", "pkg/__init__.py").out.splitlines()
    assert lines[0].startswith("pkg/__init__.py\tfile")


def test_a_handle_with_blanks_and_brackets_ends_at_a_tab(repo: GitRepo, run) -> None:
    repo.write("guide.md", "# Lantern care (in short)\n\nTrim the wick.\n")
    handles = [line.split("\t")[0] for line in run("search", "lantern care").out.splitlines()]
    assert "guide.md#Lantern care (in short)" in handles
    assert run("expand", "guide.md#Lantern care (in short)").code == 0


def test_an_answer_cut_by_its_budget_lists_what_is_pending(repo: GitRepo, run) -> None:
    ran = run("search", "login", "--budget", "0")
    assert ran.code in (0, 1)
    assert ran.err.splitlines()[-1].startswith("partial · ")
    assert " not indexed yet" in ran.err


@pytest.mark.parametrize("mode", ["auto", "text", "regex", "path", "symbol"])
def test_matches_beyond_the_limit_are_counted(repo: GitRepo, run, mode: str) -> None:
    repo.write_all({f"lamp{at}.py": f"def lamp(): return {at}\n" for at in range(30)})
    command = ("search", "lamp", "--mode", mode)
    found = run(*command, "--json", "--limit", "4").json
    stands_for = sum(1 + len(hit.get("alike", ())) for hit in found["results"])
    assert found["left"] == 30 - stands_for > 0
    more = f"at least {found['left']} more beyond the limit: raise --limit"
    assert more in run(*command, "--limit", "4").err
    whole = run(*command, "--limit", "100")
    assert "beyond the limit" not in whole.err
    assert "left" not in run(*command, "--limit", "100", "--json").json


def test_several_repositories_count_results_beyond_the_limit(
    repo: GitRepo, run, tmp_path: Path
) -> None:
    lamps = GitRepo.init(tmp_path / "lamps")
    for at in range(5):
        for root in (repo, lamps):
            root.write(f"lamp{at}.py", f"def lamp{at}(): return 'oil lamp {at}'\n")
    named = [word for root in (lamps, repo) for word in ("--repository", str(root.root))]
    command = ("search", "oil lamp", *named, "--limit", "4")
    assert run(*command, "--json").json["left"] == 6
    assert "at least 6 more beyond the limit: raise --limit" in run(*command).err


def test_words_that_no_file_has_are_named_or_counted(repo: GitRepo, run) -> None:
    words = " ".join(f"zz{letter * 6}" for letter in "abcdefgh")
    assert "`zzeeeeee` and 3 more words" in run("search", f"{words} validate").err


@pytest.mark.parametrize("mode", ["text", "regex"])
def test_a_higher_limit_gives_every_matching_line_of_a_file(repo: GitRepo, run, mode: str) -> None:
    repo.write("many.py", "".join(f"lamp_{at} = {at}\n" for at in range(120)))
    found = run("search", "lamp_", "--mode", mode, "--limit", "500", "--json").json
    assert len(found["results"]) == 120
    assert found["results"][0]["why"] == "120 matches in the file"


def test_a_result_that_loses_fields_to_its_tokens_says_so(repo: GitRepo, run) -> None:
    command = ("search", "validate", "--json", "--limit", "1")
    (whole,), (short,) = (
        run(*command, "--max-tokens", tokens).json["results"] for tokens in ("2000", "200")
    )
    assert "cut" not in whole and "doc" in whole
    assert short["cut"] is True and "doc" not in short
