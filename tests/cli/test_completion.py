"""Completion scripts and the man page, generated from the grammar of the command line."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import shtab

from codelens.cli.command_examples import COMMANDS
from codelens.cli.commands.server_commands import SHELLS

ROOT = Path(__file__).resolve().parents[2]


def test_every_shell_that_shtab_knows_has_a_script(run) -> None:
    assert set(SHELLS) == set(shtab.SUPPORTED_SHELLS)
    for shell in SHELLS:
        ran = run("completion", shell)
        assert ran.code == 0
        assert "related" in ran.out


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_commands_options_hosts_and_branches(run, repo, tmp_path: Path) -> None:
    repo.git("branch", "feature-lamp")
    script = tmp_path / "codelens.bash"
    script.write_text(run("completion", "bash").out)

    def completed(*words: str) -> list[str]:
        typed = " ".join(f"'{word}'" for word in ("codelens", *words))
        bash_line = (
            f"source {script}; COMP_WORDS=({typed}); COMP_CWORD={len(words)}; "
            "_shtab_codelens; printf '%s\\n' \"${COMPREPLY[@]}\""
        )
        done = subprocess.run(
            ["bash", "-c", bash_line], cwd=repo.root, capture_output=True, text=True
        )
        return done.stdout.split()

    assert completed("rel") == ["related"]
    assert completed("search", "--max") == ["--max-tokens"]
    assert completed("install", "--host", "clau") == ["claude-code", "claude-desktop"]
    assert completed("search", "--ref", "feature") == ["feature-lamp"]
    assert completed("outline", "sh") == ["shop"]
    assert completed("search", "--mode", "sy") == ["symbol"]


def test_no_other_command_imports_the_library() -> None:
    code = (
        "import sys; from codelens.cli.argument_parser import grammar; grammar();"
        "sys.exit('shtab' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_man_page_has_every_command_and_needs_no_other_package() -> None:
    code = (
        "import sys; import hatch_build; text = hatch_build.man_page('1.2');"
        "heavy = {'apsw', 'pygit2', 'tree_sitter', 'mcp', 'rich', 'xxhash', 'shtab'};"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys(); print(text)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith('.TH CODELENS "1"')
    assert "codelens 1.2" in done.stdout
    for command in COMMANDS:
        assert f".SS \\fBcodelens {command}\\fR" in done.stdout
