"""`codelens ui` as a process: the address on stdout, the page behind it, and the shutdown."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from gitrepo import GitRepo
from shop_repository import Run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is no signal there")


class Served(NamedTuple):
    """A page with its process, and what it said at its start."""

    process: subprocess.Popen[str]
    url: str
    said: list[str]


@contextmanager
def served(repo: GitRepo, *options: str) -> Iterator[Served]:
    """The page until the end of the block, then ended by Ctrl-C."""
    command = [sys.executable, "-m", "codelens", "ui", *options]
    with subprocess.Popen(
        command, cwd=repo.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        url = process.stdout.readline().strip()
        said = [process.stderr.readline().strip()]
        while url and "Ctrl-C" not in said[-1]:
            said.append(process.stderr.readline().strip())
        try:
            yield Served(process, url, said)
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=60) == ("", "")
        finally:
            process.kill()
    assert process.returncode == 0


def status_of(url: str) -> int:
    try:
        with urllib.request.urlopen(url) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_the_page_is_served_until_ctrl_c(repo: GitRepo, tmp_path: Path) -> None:
    with served(repo) as page:
        assert page.said == [f"showing {repo.root}; Ctrl-C stops it"]
        with urllib.request.urlopen(f"{page.url}api/search?query=total") as answer:
            assert b"shop/cart.py#total" in answer.read()
    assert not (tmp_path / "home" / "usage.log").exists()


def test_an_address_works_again_after_the_next_start(repo: GitRepo, tmp_path: Path) -> None:
    with served(repo) as first:
        assert status_of(first.url) == 200
        token = first.url.split("/")[3]
        with served(repo) as second:
            # The kept port is in use: neither it nor its secret is shared.
            assert "is only for this start" in second.said[0]
            assert second.url.split(":")[2] != first.url.split(":")[2]
            assert token not in second.url
            port = second.url.split("/")[2]
            assert status_of(f"http://{port}/{token}/") == 404
    secret = tmp_path / "home" / "page-secret"
    assert secret.stat().st_mode & 0o777 == 0o600
    with served(repo, "--once") as third:
        assert token not in third.url
        assert third.said == [f"showing {repo.root}; Ctrl-C stops it"]
    with served(repo) as fourth:
        assert fourth.url == first.url
        assert status_of(f"{first.url}api/standing") == 200
    secret.unlink()
    with served(repo) as fifth:
        assert token not in fifth.url


def test_an_unservable_page_is_refused_at_once(
    run: Run, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--port must be a whole number from 0 to 65535" in run("ui", "--port", "70000").err
    assert "unknown editor 'vim'" in run("ui", "--editor", "vim").err
    monkeypatch.setenv("CODELENS_EDITOR", "vim")
    refused = run("ui")
    assert (refused.code, "unknown editor 'vim'" in refused.err) == (2, True)
    assert run("ui", "-C", str(repo.root / "nowhere")).code == 2


def test_a_secret_that_others_may_read_is_not_used(run: Run, repo: GitRepo, tmp_path: Path) -> None:
    secret = tmp_path / "home" / "page-secret"
    secret.parent.mkdir(mode=0o700, exist_ok=True)
    secret.write_text("x" * 43)
    secret.chmod(0o644)
    refused = run("ui", "-C", str(repo.root))
    assert (refused.code, "lets others read it; delete the file" in refused.err) == (2, True)
    assert "install --http" not in refused.err
