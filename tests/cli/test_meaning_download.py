"""`codelens meaning download`: a server on loopback with the interface of Hugging Face's."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo
from onnx_models import write_embedding_model

WORDS = "cancel halt job"


class _Hub(http.server.BaseHTTPRequestHandler):
    folder: Path
    commit = "0" * 40

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path = self.path.partition("?")[0]
        if path.startswith("/api/models/someone/small"):
            files = {
                str(file.relative_to(self.folder)): file.stat().st_size
                for file in sorted(self.folder.rglob("*"))
                if file.is_file()
            }
            siblings = [{"rfilename": name, "size": size} for name, size in files.items()]
            tree = [
                {"type": "file", "path": name, "size": size, "oid": "1" * 40}
                for name, size in files.items()
            ]
            info = {"id": "someone/small", "sha": self.commit, "siblings": siblings}
            self._send(json.dumps(tree if "/tree/" in path else info).encode(), "")
        elif path.startswith("/someone/small/resolve/"):
            data = (self.folder / path.split("/", 5)[5]).read_bytes()
            self._send(data, f'"{hashlib.sha256(data).hexdigest()}"')
        else:
            self.send_error(404)

    def _send(self, data: bytes, etag: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("X-Repo-Commit", self.commit)
        if etag:
            self.send_header("ETag", etag)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a process whose hub is a server on loopback."""
    folder = write_embedding_model(tmp_path / "model", WORDS)
    (folder / "pytorch_model.bin").write_bytes(b"0" * 1000)
    handler = type("Hub", (_Hub,), {"folder": folder})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {
            "HF_ENDPOINT": f"http://127.0.0.1:{server.server_address[1]}",
            "HF_HOME": str(tmp_path / "cache"),
            "HF_HUB_DISABLE_XET": "1",
            "NO_PROXY": "127.0.0.1",
        }
        server.shutdown()


@pytest.mark.slow
def test_a_model_is_downloaded_only_when_told_and_then_needs_no_network(
    repo: GitRepo, hub: dict[str, str], tmp_path: Path
) -> None:
    def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "codelens", "-C", str(repo.root), "meaning", *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
            env={**os.environ, **hub, **environ},
        )  # fmt: skip

    refused = run("download", "--model", "someone/small")
    assert (refused.returncode, "pass --yes" in refused.stderr) == (2, True)
    assert "3 files" in refused.stdout
    assert not (tmp_path / "cache").exists()
    missing = run("enable", "--provider", "local", "--model", "someone/small", "--yes")
    assert "codelens meaning download --model someone/small" in missing.stderr
    done = run("download", "--model", "someone/small", "--yes")
    assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "cache").rglob("pytorch_model.bin"))
    offline = {"HF_ENDPOINT": "http://127.0.0.1:1"}
    enabled = run("enable", "--provider", "local", "--model", "someone/small", "--yes", **offline)
    assert "7 numbers a vector, on this machine" in enabled.stdout, enabled.stderr
    synced = run("sync", **offline)
    assert "embedded by local (someone/small)" in synced.stdout, synced.stderr
    assert "embedded since" in run("status", **offline).stdout
    unknown = run("download", "--model", "someone/else", "--yes")
    assert (unknown.returncode, "Traceback" in unknown.stderr) == (2, False)
