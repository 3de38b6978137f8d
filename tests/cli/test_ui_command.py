"""`codelens ui` as a process: the address on stdout, the page behind it, and the shutdown."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from gitrepo import GitRepo
from shop_repository import Run


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is no signal there")
def test_the_page_is_served_until_ctrl_c(repo: GitRepo, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "codelens", "ui"]
    with subprocess.Popen(
        command, cwd=repo.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None and server.stderr is not None
        url = server.stdout.readline().strip()
        assert server.stderr.readline().strip() == f"showing {repo.root}; Ctrl-C stops it"
        with urllib.request.urlopen(f"{url}api/search?query=total") as answer:
            assert b"shop/cart.py#total" in answer.read()
        server.send_signal(signal.SIGINT)
        try:
            out, err = server.communicate(timeout=60)
        finally:
            server.kill()
    assert (server.returncode, out, err) == (0, "", "")
    home = tmp_path / "home"
    assert not (home / "usage.log").exists()


def test_an_unservable_page_is_refused_at_once(
    run: Run, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--port must be a whole number from 0 to 65535" in run("ui", "--port", "70000").err
    assert "unknown editor 'vim'" in run("ui", "--editor", "vim").err
    monkeypatch.setenv("CODELENS_EDITOR", "vim")
    refused = run("ui")
    assert (refused.code, "unknown editor 'vim'" in refused.err) == (2, True)
    assert run("ui", "-C", str(repo.root / "nowhere")).code == 2
