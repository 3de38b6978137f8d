"""`codelens serve --http`, asked over real HTTP."""

from __future__ import annotations

import http.client
import json
import os
import socket
import stat
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from auth_files import FILES
from gitrepo import GitRepo
from http_server import JSON, HttpServer, http_server
from mcp_lines import COMMAND, HELLO
from mcp_types import ListRootsResult, Root

from codelens.bearer_token import UnusableToken, bearer_token

LAMPS = {"lamps.py": 'def light(lamp):\n    """Light a lamp."""\n' + "    lamp.on()\n" * 12}
REPEAT = "sent earlier, unchanged"


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two repositories, a worktree of the first, and one that is not served."""
    folder = tmp_path_factory.mktemp("repositories")
    auth = GitRepo.init(folder / "auth")
    auth.commit("first", FILES)
    branch = auth.worktree(folder / "auth-branch", branch="side")
    branch.commit("side", {"src/side.py": "def sideways():\n    return 1\n"})
    lamps = GitRepo.init(folder / "lamps")
    lamps.commit("lamps", LAMPS)
    other = GitRepo.init(folder / "other")
    other.commit("other", FILES)
    return {made.root.name: made.root for made in (auth, branch, lamps, other)}


@pytest.fixture(scope="module")
def server(env: dict[str, str], repositories: dict[str, Path]) -> Iterator[HttpServer]:
    roots = [str(repositories[name]) for name in ("auth", "lamps")]
    with http_server(env, "--root", roots[0], "--root", roots[1]) as running:
        yield running


def initialize() -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO})


def test_only_the_token_opens(server: HttpServer) -> None:
    for value in ("", "Bearer", "Bearer wrong", f"Basic {server.token}", f"Bearer {server.token}x"):
        headers = {"Authorization": value} if value else {}
        assert server.status("POST", "/mcp", {**JSON, **headers}, initialize()) == 401, value
    assert server.status("POST", "/mcp", {**JSON, **server.bearer}, initialize()) == 200


def test_a_token_that_is_sent_twice_opens_nothing(server: HttpServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as wire:
        line = f"Authorization: Bearer {server.token}\r\n"
        wire.sendall(f"GET /mcp HTTP/1.1\r\nHost: localhost\r\n{line}{line}\r\n".encode())
        assert wire.recv(12) == b"HTTP/1.1 401"


@pytest.mark.parametrize(
    "host",
    ["example.org", "127.0.0.1.example.org", "localhost.", "localhost:80@example.org", "[::2]", ""],
)
def test_a_foreign_host_is_refused_with_the_token_too(server: HttpServer, host: str) -> None:
    headers = {**JSON, **server.bearer, "Host": host}
    assert server.status("POST", "/mcp", headers, initialize()) == 421


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9", "127.0.0.1:80", "[::1]:3100"])
def test_this_machine_is_known_by_its_names(server: HttpServer, host: str) -> None:
    headers = {**JSON, **server.bearer, "Host": host}
    assert server.status("POST", "/mcp", headers, initialize()) == 200


def test_pages_of_a_foreign_origin_are_refused(server: HttpServer) -> None:
    own = f"http://127.0.0.1:{server.port}"
    for origin, status in (
        ("https://example.org", 403),
        ("http://localhost:8000", 403),
        (f"{own}.example.org", 403),
        ("null", 403),
        ("http://[", 403),
        (own, 200),
    ):
        headers = {**JSON, **server.bearer, "Origin": origin}
        assert server.status("POST", "/mcp", headers, initialize()) == status, origin


def test_a_preflight_of_a_browser_allows_nothing(server: HttpServer) -> None:
    headers = {"Origin": "https://example.org", "Access-Control-Request-Method": "POST"}
    assert server.status("OPTIONS", "/mcp", headers) == 403


def test_there_is_one_path(server: HttpServer) -> None:
    for path in ("/", "/mcp/../../etc/passwd", "/mcp/%2e%2e/%2e%2e/etc/passwd", "//mcp", "/mcp%00"):
        assert server.status("GET", path, server.bearer) in (404, 400), path
        assert server.status("GET", path, {}) in (401, 400), path
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", "/", initialize(), {**JSON, **server.bearer})
    assert b"MCP is at /mcp" in connection.getresponse().read()
    connection.close()


def test_a_body_of_100_megabytes_is_refused(server: HttpServer) -> None:
    piece = b" " * (1024 * 1024)

    def declared() -> int:
        headers = {**JSON, **server.bearer, "Content-Length": str(100 * len(piece))}
        return server.status("POST", "/mcp", headers)

    def chunked() -> int:
        headers = {**JSON, **server.bearer}
        return server.status("POST", "/mcp", headers, (piece for _ in range(9)))

    assert declared() == 413
    assert chunked() == 413
    with server.client() as asker:
        assert "cl_search" in asker.tools()


def test_input_that_is_not_http_is_refused(server: HttpServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as wire:
        wire.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
        assert wire.recv(12) == b"HTTP/1.1 400"


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_each_protocol_is_answered(
    server: HttpServer, repositories: dict[str, Path], mode: str
) -> None:
    with server.client(mode) as asker:
        text = asker.text("cl_search", query="validate", path=str(repositories["auth"]))
    assert "src/auth.py#Session.validate" in text


def test_many_clients_at_once_are_each_answered_about_their_worktree(
    server: HttpServer, repositories: dict[str, Path]
) -> None:
    expected = {
        "auth": ("validate", "src/auth.py#Session.validate"),
        "auth-branch": ("sideways", "src/side.py#sideways"),
        "lamps": ("light", "lamps.py#light"),
    }

    def asks(name: str) -> None:
        query, handle = expected[name]
        for mode in ("legacy", "auto"):
            with server.client(mode) as asker:
                text = asker.text("cl_search", query=query, path=str(repositories[name]))
            assert handle in text and str(repositories[name]) in text

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(asks, [*expected, *expected]))


def test_other_repositories_are_not_served(
    server: HttpServer, repositories: dict[str, Path]
) -> None:
    with server.client() as asker:
        refusal = asker.error("cl_search", query="validate", path=str(repositories["other"]))
        assert "is in none of the repositories of this server" in refusal
        assert "/etc" in asker.error("cl_outline", target=".", path="/etc")
        refusal = asker.error("cl_search", query="validate")
    assert "several --root" in refusal and str(repositories["lamps"]) in refusal


def test_several_repositories_are_searched_at_once(
    server: HttpServer, repositories: dict[str, Path]
) -> None:
    auth, lamps, other = (str(repositories[name]) for name in ("auth", "lamps", "other"))
    with server.client() as asker:
        text = asker.text("cl_search", query="light", repositories=[auth, lamps, other])
        first, nothing, second, error, result = text.splitlines()
        assert first.endswith("]") and f" {auth} " in first and f" {lamps} " in second
        assert nothing.startswith(f"note: {auth}: nothing was found")
        assert error.startswith(f"error: {other}: ")
        assert "is in none of the repositories of this server" in error
        handle = f"{lamps}/lamps.py#light"
        assert result.startswith(f"{handle}\t1-14 ")
        # The handle identifies the root.
        assert "Light a lamp" in asker.text("cl_expand", handles=[handle])
        assert "called by" in asker.text("cl_related", target=f"{auth}/src/auth.py#Session")
        refusal = asker.error("cl_expand", handles=[f"{other}/src/auth.py"])
        assert "is in none of the repositories" in refusal
        refusal = asker.error("cl_search", query="light", repositories=[other, "relative"])
        assert "must be absolute" in refusal and "is in none of" in refusal
        found = json.loads(
            asker.text("cl_search", query="light", repositories=[auth, lamps], format="json")
        )
        assert [part["root"] for part in found["repositories"]] == [auth, lamps]
        assert found["results"][0]["repository"] == lamps


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_client_is_asked_for_its_roots(
    server: HttpServer, repositories: dict[str, Path], mode: str
) -> None:
    def roots_of(name: str):
        async def answer(_context) -> ListRootsResult:
            return ListRootsResult(roots=[Root(uri=repositories[name].as_uri())])  # type: ignore[arg-type]

        return answer

    with server.client(mode, list_roots_callback=roots_of("auth-branch")) as asker:
        assert "src/side.py#sideways" in asker.text("cl_search", query="sideways")
    with server.client(mode, list_roots_callback=roots_of("other")) as asker:
        assert "is not served here" in asker.error("cl_search", query="validate")


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_client_that_names_no_worktree_is_not_answered_about_another(
    env: dict[str, str], tmp_path: Path, mode: str
) -> None:
    repo = GitRepo.init(tmp_path / "lamps")
    repo.commit("lamps", LAMPS)
    with http_server(env, "--root", str(repo.root)) as running, running.client(mode) as asker:
        assert "lamps.py#light" in asker.text("cl_search", query="light")
        side = repo.worktree(tmp_path / "side", branch="side")
        refusal = asker.error("cl_search", query="light")
        assert "several worktrees" in refusal
        assert f"inside the one: {repo.root}, {side.root}" in refusal
        assert "lamps.py#light" in asker.text("cl_search", query="light", path=str(side.root))


def test_text_sent_to_one_client_is_not_omitted_for_another(
    server: HttpServer, repositories: dict[str, Path]
) -> None:
    arguments = {"handles": ["lamps.py#light"], "path": str(repositories["lamps"])}
    with server.client() as first, server.client() as second:
        assert REPEAT not in first.text("cl_expand", **arguments)
        assert REPEAT in first.text("cl_expand", **arguments)
        assert REPEAT not in second.text("cl_expand", **arguments)
    with server.client("2026-07-28") as nameless:
        assert REPEAT not in nameless.text("cl_expand", **arguments)
        assert REPEAT not in nameless.text("cl_expand", **arguments)


def test_it_stops_politely_and_keeps_its_token(
    tmp_path: Path, repositories: dict[str, Path]
) -> None:
    env = {"CODELENS_HOME": str(tmp_path / "home"), "GIT_CONFIG_GLOBAL": os.devnull}
    root = ("--root", str(repositories["lamps"]))
    with http_server(env, *root) as first:
        with first.client() as asker:
            assert "lamps.py#light" in asker.text("cl_search", query="light")
            # Its stream for server messages is still open.
            assert first.stop() == (0, "stopped\n")
        assert first.token in first.said[1]
    token_file = tmp_path / "home" / "http-token"
    assert stat.S_IMODE(token_file.stat().st_mode) == 0o600
    with http_server(env, *root) as second:
        assert second.token == first.token
        assert first.token not in "".join(second.said)


def test_a_taken_port_is_reported_in_one_line(server: HttpServer, env: dict[str, str]) -> None:
    command = [*COMMAND, "--http", "--port", str(server.port)]
    ended = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True)
    assert ended.returncode == 2
    assert f"cannot listen on 127.0.0.1 port {server.port}: another program uses it" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize("spoiled", ["mode", "link", "text", "folder"])
def test_a_token_that_others_may_know_is_not_used(tmp_path: Path, spoiled: str) -> None:
    token_file = tmp_path / "http-token"
    if spoiled == "folder":
        token_file.mkdir()
    elif spoiled == "link":
        other = tmp_path / "other"
        other.write_text("x" * 43)
        other.chmod(0o600)
        token_file.symlink_to(other)
    else:
        token_file.write_text("x" * 43 if spoiled == "mode" else "too short\n")
        token_file.chmod(0o640 if spoiled == "mode" else 0o600)
    with pytest.raises(UnusableToken, match="delete the file"):
        bearer_token(tmp_path)


def test_a_token_is_made_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        tokens = list(threads.map(lambda _: bearer_token(tmp_path / "home"), range(8)))
    assert len({token.text for token in tokens}) == 1
    assert [token.is_new for token in tokens].count(True) == 1
    assert [file.name for file in (tmp_path / "home").iterdir()] == ["http-token"]
