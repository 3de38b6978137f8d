"""A request that is too large is refused while it is read, and the next one is answered."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo
from mcp_lines import HELLO, INITIALIZED, Lines

from codelens.serve.client_streams import REQUEST_BYTES

HUGE = 40 * REQUEST_BYTES
MOST_GROWTH_KB = 4 * REQUEST_BYTES // 1024


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("first", {"src/auth.py": "def login(name):\n    return name\n"})
    return made


def peak_kb(pid: int) -> int:
    """The peak memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.parametrize(
    ("head", "tail", "identity"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"id":1,"x":"', b'"}}', 7),
        (b'{"jsonrpc":"2.0","method":"ping","params":{"x":"', b'"},"id":"seven"}', "seven"),
        (b'{"jsonrpc":"2.0","method":"ping","params":{"x":"', b'"}}', None),
        (b"", b"", None),
    ],
)
def test_a_huge_request_is_refused_and_fills_no_memory(
    env: dict[str, str], repo: GitRepo, head: bytes, tail: bytes, identity: object
) -> None:
    lines = Lines(env, repo.root)
    lines.ask(1, "initialize", HELLO)
    lines.send(INITIALIZED)
    assert "src/auth.py#login" in str(lines.call(2, "cl_search", query="login"))
    before = peak_kb(lines.process.pid)
    lines.send(head + b"x" * HUGE + tail)
    refused = lines.next()
    assert refused["id"] == identity
    assert refused["error"]["code"] == -32600 and "send less text" in refused["error"]["message"]
    assert "src/auth.py#login" in str(lines.call(3, "cl_search", query="login"))
    assert peak_kb(lines.process.pid) - before < MOST_GROWTH_KB
    assert lines.end() == (0, b"")
