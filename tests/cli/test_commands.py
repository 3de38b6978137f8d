"""The command line: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens import __version__
from codelens.cli.main import main

AUTH = '''\
class Session:
    """A session."""

    def validate(self, token):
        """Tell whether the token holds."""
        return bool(token)


def login(name):
    return Session()
'''


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepo:
    monkeypatch.setenv("CODELENS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("CODELENS_BUDGET_MS", raising=False)
    made = GitRepo.init(tmp_path / "repo")
    made.commit("first", {"src/auth.py": AUTH, "README.md": "# Top\n\nLanterns.\n"})
    monkeypatch.chdir(made.root)
    return made


class Ran:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> dict:
        return json.loads(self.out)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    def call(*args: str) -> Ran:
        code = main(args)
        return Ran(code, *capsys.readouterr())

    return call


def spawn(*args: str, **options) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "codelens", *args]
    return subprocess.run(command, capture_output=True, text=True, **options)


def test_search_prints_places_that_a_terminal_can_open(repo: GitRepo, run) -> None:
    ran = run("search", "validate")
    assert ran.code == 0
    place, signature, handle = ran.out.splitlines()[:3]
    assert place.startswith("src/auth.py:4  method Session.validate  (")
    assert signature == "    def validate(self, token)"
    assert handle == "    src/auth.py#Session.validate"


def test_what_is_said_about_an_answer_goes_to_stderr(repo: GitRepo, run) -> None:
    ran = run("search", "validate")
    head = repo.head()[:7]
    assert ran.err.splitlines()[-1].startswith(
        f"fresh · main@{head} · 2 files checked, 2 re-indexed"
    )
    assert "fresh" not in ran.out


def test_search_as_json_has_the_documented_keys(repo: GitRepo, run) -> None:
    found = run("search", "validate", "--json").json
    assert set(found) == {"receipt", "query", "mode", "results", "notes"}
    assert set(found["results"][0]) == {
        "handle", "path", "start_line", "end_line", "symbol", "kind", "language", "score",
        "signature", "why",
    }  # fmt: skip
    assert set(found["receipt"]) == {
        "index_id", "worktree", "branch", "head", "status", "files", "checked", "indexed",
        "elapsed_ms", "pending", "pending_names", "note",
    }  # fmt: skip
    assert found["receipt"]["status"] == "fresh"
    assert found["results"][0]["handle"] == "src/auth.py#Session.validate"


def test_explain_tells_what_made_the_score(repo: GitRepo, run) -> None:
    (first, *_) = run("search", "validate", "--json", "--explain").json["results"]
    assert first["explain"]
    assert " = " in run("search", "validate", "--explain").out


def test_nothing_found_is_exit_code_1_and_no_error(repo: GitRepo, run) -> None:
    ran = run("search", "zzyzx_quux")
    assert (ran.code, ran.out) == (1, "")
    assert "error" not in ran.err


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


def test_expand_gives_the_bare_text_of_one_handle(repo: GitRepo, run) -> None:
    ran = run("expand", "src/auth.py#login")
    assert ran.out == "def login(name):\n    return Session()\n"


def test_expand_titles_several_handles_and_numbers_lines_when_asked(repo: GitRepo, run) -> None:
    ran = run("expand", "-n", "src/auth.py#login", "README.md:1")
    assert ran.out.splitlines() == [
        "==> src/auth.py:9-10  src/auth.py#login",
        " 9  def login(name):",
        "10      return Session()",
        "==> README.md:1  README.md:1",
        "1  # Top",
    ]


def test_expand_answers_what_it_can_and_fails_for_the_rest(repo: GitRepo, run) -> None:
    ran = run("expand", "src/auth.py#logn", "README.md:1")
    assert ran.code == 2
    assert "# Top" in ran.out
    assert "src/auth.py#login" in ran.err


def test_expand_reads_handles_from_stdin(repo: GitRepo) -> None:
    done = spawn("expand", "-", cwd=repo.root, input="src/auth.py#login\nREADME.md:1\n")
    assert done.stdout.count("==> ") == 2


def test_expand_as_json_has_the_text_or_the_error(repo: GitRepo, run) -> None:
    ran = run("expand", "--json", "src/auth.py#login", "nosuch")
    good, bad = ran.json["results"]
    assert good["text"] == "def login(name):\n    return Session()\n"
    assert (good["start_line"], good["end_line"]) == (9, 10)
    assert set(bad) == {"handle", "asked", "error", "near"}


def test_outline_folds_a_file(repo: GitRepo, run) -> None:
    ran = run("outline", "src/auth.py")
    head, *rows = ran.out.splitlines()
    assert head.startswith("src/auth.py  python, 10 lines, ~") and "folded ~" in head
    assert rows[0].split() == ["1-6", "class", "Session", "--", "A", "session."]
    assert rows[1].strip().startswith("4-6") and "def validate(self, token)" in rows[1]


def test_outline_of_a_folder_lists_files_and_folders(repo: GitRepo, run) -> None:
    found = run("outline", "--json").json
    assert [one["path"] for one in found["folders"]] == ["src"]
    assert found["folders"][0]["files"] == 1
    assert [one["path"] for one in found["results"]] == ["README.md"]


def test_outline_takes_a_path_from_where_one_stands(
    repo: GitRepo, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.root / "src")
    assert run("outline", "./auth.py").out.startswith("src/auth.py ")
    assert run("outline", ".").out.startswith("src/auth.py ")
    assert run("outline", "src/auth.py").out.startswith("src/auth.py ")
    assert run("outline", "..", "--json").json["target"] == "."
    assert run("outline", "../..").code == 2


def test_status_tells_where_one_stands(repo: GitRepo, run) -> None:
    ran = run("status")
    assert f"{repo.root} (worktree)" in ran.out
    assert f"main @ {repo.head()[:7]}, clean" in ran.out
    repo.write("src/auth.py", AUTH + "\n")
    assert "uncommitted changes" in run("status").out
    found = run("status", "--json").json
    assert found["status"]["dirty"] is True
    assert found["status"]["languages"] == {"markdown": 1, "python": 1}


def test_index_can_start_anew(repo: GitRepo, run) -> None:
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
    assert run("search", "login", "--ref", "v1").out.startswith("src/auth.py:9  function login")
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
    assert "no language is called 'cobolt'" in ran.err


def test_no_arguments_give_the_commands_to_know(run) -> None:
    ran = run()
    assert ran.code == 0
    assert ran.out.count("\n  codelens ") == 8


@pytest.mark.parametrize("command", ["", "search", "expand", "outline", "status", "index", "export",
                                     "languages", "serve"])  # fmt: skip
def test_every_command_has_help(run, command: str) -> None:
    ran = run(*([command] if command else []), "--help")
    assert ran.code == 0
    assert ran.out.startswith("usage: codelens")


def test_control_characters_of_code_and_names_never_reach_the_screen(repo: GitRepo, run) -> None:
    repo.write("evil\x1b[31m.py", "def evil(a='\x1b]0;owned\x07'):\n    pass\n")
    for ran in (run("search", "evil"), run("outline"), run("expand", "nosuch\x1b[2J")):
        assert "\x1b" not in ran.out + ran.err
        assert "\x07" not in ran.out + ran.err


def test_names_that_are_no_utf8_are_printed_and_read_back(repo: GitRepo, run) -> None:
    repo.write(b"caf\xe9.py", "def coffee():\n    pass\n")
    (hit, *_) = run("search", "coffee", "--json").json["results"]
    assert hit["handle"] == "caf%E9.py#coffee"
    assert run("expand", hit["handle"]).out == "def coffee():\n    pass\n"


def test_output_is_utf8_whatever_the_locale(repo: GitRepo) -> None:
    repo.write("src/auth.py", "def naïve():\n    return '→'\n")
    env = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-m", "codelens", "expand", "src/auth.py#naïve".encode()],
        cwd=repo.root, env=env, capture_output=True,
    )  # fmt: skip
    assert done.stdout == "def naïve():\n    return '→'\n".encode()


def test_a_reader_that_leaves_early_is_no_error(repo: GitRepo) -> None:
    repo.write("many.py", "".join(f"def number_{at}(): pass\n" for at in range(5000)))
    command = [sys.executable, "-m", "codelens", "export", "symbols"]
    with subprocess.Popen(
        command, cwd=repo.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout and process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def shell(command: str, repo: GitRepo) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", command.replace("codelens", f"'{sys.executable}' -m codelens", 1)],
        cwd=repo.root, capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "command",
    ["search login >&-", "search login <&- >&-", "status > /dev/full", "--help > /dev/full",
     "export symbols > /dev/full", "expand src/auth.py > /dev/full", "> /dev/full"],
)  # fmt: skip
def test_an_answer_that_cannot_be_written_is_an_error_in_one_line(
    repo: GitRepo, command: str, unbuffered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    done = shell(f"codelens {command}", repo)
    errors = [line for line in done.stderr.splitlines() if not line.startswith("fresh")]
    assert done.returncode == 2
    assert len(errors) == 1
    assert errors[0].startswith("codelens: error: cannot write to stdout: ")


@pytest.mark.parametrize("sink", ["2>&-", "2>/dev/full"])
def test_a_stderr_that_takes_nothing_changes_no_exit_code(repo: GitRepo, sink: str) -> None:
    found = shell(f"codelens search login {sink}", repo)
    assert (found.returncode, found.stderr) == (0, "")
    assert "src/auth.py#login" in found.stdout
    assert shell(f"codelens search zzyzx_quux {sink}", repo).returncode == 1
    assert shell(f"codelens search login {sink} > /dev/full", repo).returncode == 2


def test_an_argument_that_starts_with_a_dash_is_told_how_to_be_given(repo: GitRepo, run) -> None:
    for command in ("search", "expand"):
        assert "put -- before it if '-foo' is meant as text" in run(command, "-foo").err
        assert "--" not in run(command, "--", "-foo").err
    assert "put --" not in run("search").err


def test_expand_takes_a_path_from_where_one_stands(
    repo: GitRepo, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.root / "src")
    assert run("expand", "./auth.py:9").out == "def login(name):\n"
    assert run("expand", "./auth.py#login").out.startswith("def login")
    assert run("expand", "../README.md:1").out == "# Top\n"
    (item,) = run("expand", "./auth.py:9", "--json").json["results"]
    assert (item["asked"], item["handle"]) == ("./auth.py:9", "src/auth.py:9")


def test_a_text_cut_by_its_lines_names_the_rest_by_a_handle(repo: GitRepo, run) -> None:
    ran = run("expand", "src/auth.py", "--max-lines", "3")
    rest = ran.err.partition("go on with ")[2].split()[0]
    assert rest == "src/auth.py:4-10"
    assert ran.out + run("expand", rest).out == AUTH
    (item,) = run("expand", "src/auth.py#Session", "--max-lines", "3", "--json").json["results"]
    assert item["rest"] == "src/auth.py:4-6"


def test_a_file_found_as_a_whole_is_shown_without_a_line(repo: GitRepo, run) -> None:
    repo.write("pkg/__init__.py", "")
    lines = run("search", "pkg/__init__.py").out.splitlines()
    assert lines[0].startswith("pkg/__init__.py  file")
    assert "    pkg/__init__.py" in lines


def test_text_in_a_pipe_goes_out_as_it_is(repo: GitRepo) -> None:
    text = b"lantern \x1b[31m\x07 lit\r\nend"
    repo.write("raw.txt", text)
    command = [sys.executable, "-m", "codelens", "expand", "raw.txt"]
    done = subprocess.run(command, cwd=repo.root, capture_output=True)
    assert done.stdout == text + b"\n"


def test_a_handle_with_blanks_and_brackets_stands_alone_in_its_line(repo: GitRepo, run) -> None:
    repo.write("guide.md", "# Lantern care (in short)\n\nTrim the wick.\n")
    lines = run("search", "lantern care").out.splitlines()
    assert "    guide.md#Lantern care (in short)" in lines
    assert run("expand", "guide.md#Lantern care (in short)").code == 0


def test_an_answer_cut_short_by_its_budget_says_what_is_pending(repo: GitRepo, run) -> None:
    ran = run("search", "login", "--budget", "0")
    assert ran.code in (0, 1)
    assert ran.err.splitlines()[-1].startswith("partial · ")
    assert " pending" in ran.err


def test_version_is_told_before_anything_is_loaded() -> None:
    code = (
        "import sys; from codelens.cli.main import main; main(['--version']); "
        "print({'argparse', 'json', 'codelens.engine', 'codelens.errors'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == f"codelens {__version__}\nset()\n"


def test_a_warm_search_imports_nothing_it_does_not_need(repo: GitRepo, run) -> None:
    run("search", "login")
    code = (
        "import sys; from codelens.cli.main import main; main(['search', 'login']); "
        "print({'tree_sitter', 'tree_sitter_language_pack', 'mcp', 'rich', 'pydantic', 'anyio', "
        "'asyncio', 'numpy'} & sys.modules.keys() or 'lean')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "lean", done.stdout + done.stderr
