"""What goes to stdout and stderr: bytes, locales, control characters, readers that leave."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from auth_files import FILES
from gitrepo import GitRepo


@pytest.fixture
def committed() -> dict[str, str]:
    return FILES


def test_control_characters_of_code_and_names_never_reach_the_screen(repo: GitRepo, run) -> None:
    repo.write("evil\x1b[31m.py", "def evil(a='\x1b]0;owned\x07'):\n    pass\n")
    for ran in (run("search", "evil"), run("outline"), run("expand", "nosuch\x1b[2J")):
        assert "\x1b" not in ran.out + ran.err
        assert "\x07" not in ran.out + ran.err


def test_names_that_are_not_utf8_are_printed_and_read_back(repo: GitRepo, run) -> None:
    repo.write(b"caf\xe9.py", "def coffee():\n    pass\n")
    (hit, *_) = run("search", "coffee", "--json").json["results"]
    assert hit["handle"] == "caf%E9.py#coffee"
    assert run("expand", hit["handle"]).out == "def coffee():\n    pass\n"


def test_output_is_utf8_in_any_locale(repo: GitRepo) -> None:
    repo.write("src/auth.py", "def naïve():\n    return '→'\n")
    env = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-m", "codelens", "expand", "src/auth.py#naïve".encode()],
        cwd=repo.root, env=env, capture_output=True,
    )  # fmt: skip
    assert done.stdout == "def naïve():\n    return '→'\n".encode()


def test_a_reader_that_leaves_early_is_not_an_error(repo: GitRepo) -> None:
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


@pytest.mark.slow
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
    # On a slow machine indexing prints progress lines.
    progress = ("fresh", "codelens: indexing:")
    errors = [line for line in done.stderr.splitlines() if not line.startswith(progress)]
    assert done.returncode == 2
    assert len(errors) == 1
    assert errors[0].startswith("codelens: error: cannot write to stdout: ")


@pytest.mark.slow
@pytest.mark.parametrize("sink", ["2>&-", "2>/dev/full"])
def test_a_stderr_that_takes_nothing_changes_no_exit_code(repo: GitRepo, sink: str) -> None:
    found = shell(f"codelens search login {sink}", repo)
    assert (found.returncode, found.stderr) == (0, "")
    assert "src/auth.py#login" in found.stdout
    assert shell(f"codelens search zzyzx_quux {sink}", repo).returncode == 1
    assert shell(f"codelens search login {sink} > /dev/full", repo).returncode == 2
