"""A server over HTTP while repositories disappear, names are hostile and clients greedy."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from gitrepo import GitRepo
from http_server import JSON, HttpServer, http_server
from mcp_lines import HELLO
from sdk_client import Asker

from codelens import __version__
from codelens.serve.http_server import MOST_CONNECTIONS, MOST_SESSIONS

SHOP = {"shop.py": "def price():\n    return 1\n"}
LAMPS = {"lamps.py": "def light():\n    return 2\n"}
_MOST_TAKEN = 20
NAMES = (
    "<img src=x onerror=alert(1)>.py",
    "\x1b[31mred\x1b]0;title\x07.py",
    "turned\u202eyp.exe.py",
    "two\nlines.py",
    "quote'\";$(id)`id`.py",
    "%2e%2e%2fetc.py",
)


@pytest.fixture(scope="module")
def shops(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Repositories of which each test takes one, to change or delete it."""
    folder = tmp_path_factory.mktemp("shops")
    GitRepo.init(folder / "shop").commit("first", SHOP)
    return [
        Path(shutil.copytree(folder / "shop", folder / f"{number}" / "shop"))
        for number in range(_MOST_TAKEN)
    ]


@pytest.fixture(scope="module")
def lamps(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    repo = GitRepo.init(tmp_path_factory.mktemp("lamps") / "lamps")
    repo.commit("first", LAMPS)
    return repo


@pytest.fixture(scope="module")
def server(env: dict[str, str], shops: list[Path], lamps: GitRepo) -> Iterator[HttpServer]:
    roots = [argument for root in (*shops, lamps.root) for argument in ("--root", str(root))]
    with http_server(env, *roots) as running:
        yield running
        code, said = running.stop()
        assert code == 0 and said.endswith("stopped\n") and "Traceback" not in said


@pytest.fixture
def repositories(server: HttpServer, shops: list[Path], lamps: GitRepo) -> tuple[GitRepo, GitRepo]:
    """The repository that may disappear, and the one that stays."""
    return GitRepo(shops.pop()), lamps


def finds(asker: Asker, query: str, root: Path, handle: str) -> None:
    assert handle in asker.text("cl_search", query=query, path=str(root))


def test_a_deleted_repository_is_reported_and_others_are_answered(
    server: HttpServer, repositories: tuple[GitRepo, GitRepo]
) -> None:
    gone, stays = repositories
    with server.client() as asker:
        finds(asker, "price", gone.root, "shop.py#price")
        shutil.rmtree(gone.root)
        for tool, given in (
            ("cl_search", {"query": "price"}),
            ("cl_expand", {"handles": ["shop.py#price"]}),
            ("cl_outline", {"target": "shop.py"}),
        ):
            reply = asker.error(tool, path=str(gone.root), **given)
            assert str(gone.root) in reply and "Traceback" not in reply and "bug" not in reply
        finds(asker, "light", stays.root, "lamps.py#light")
        both = [str(gone.root), str(stays.root)]
        text = asker.text("cl_search", query="light", repositories=both)
        assert f"error: {gone.root}: " in text and "lamps.py#light" in text


def test_a_recreated_repository_is_the_one_answered(
    server: HttpServer, repositories: tuple[GitRepo, GitRepo]
) -> None:
    gone, _ = repositories
    with server.client() as asker:
        finds(asker, "price", gone.root, "shop.py#price")
        shutil.rmtree(gone.root)
        again = GitRepo.init(gone.root)
        again.commit("other", {"kept.py": "def price_of_the_second():\n    return 3\n"})
        text = asker.text("cl_search", query="price", path=str(gone.root))
        assert "kept.py#price_of_the_second" in text and "shop.py" not in text


def test_a_deleted_worktree_is_reported_and_its_repository_answered(
    server: HttpServer, repositories: tuple[GitRepo, GitRepo], tmp_path: Path
) -> None:
    shop, _ = repositories
    side = shop.worktree(tmp_path / "side", branch="side")
    side.write("side.py", "def sideways():\n    return 4\n")
    with server.client() as asker:
        finds(asker, "sideways", side.root, "side.py#sideways")
        shutil.rmtree(side.root)
        assert str(side.root) in asker.error("cl_search", query="price", path=str(side.root))
        finds(asker, "price", shop.root, "shop.py#price")


def test_hostile_names_are_shown_without_control_characters(
    server: HttpServer, repositories: tuple[GitRepo, GitRepo]
) -> None:
    shop, _ = repositories
    for number, name in enumerate(NAMES):
        shop.write(name, f"def hostile_{number}():\n    return {number}\n")
    with server.client() as asker:
        text = asker.text("cl_search", query="hostile", path=str(shop.root), limit=20)
        assert not set(text) & (set(map(chr, range(32))) - {"\n", "\t"} | {"\x7f", "\u202e"})
        arguments = {"query": "hostile", "path": str(shop.root), "format": "json"}
        results = json.loads(asker.text("cl_search", **arguments))["results"]
        assert {result["path"] for result in results} == set(NAMES)
        for result in results:
            handles = [result["handle"]]
            text = asker.text("cl_expand", handles=handles, path=str(shop.root), format="json")
            (read,) = json.loads(text)["results"]
            assert f"def {result['symbol']}" in read["text"], read


@pytest.mark.parametrize(
    "path",
    ["{root}/../../etc", "{root}/%2e%2e/%2e%2e/etc", "file://{root}", "{root}\x00/etc",
     "//{root}/../..", "~/", "{root}/" + "a" * 5_000, "\\\\host\\share"],
)  # fmt: skip
def test_no_path_of_a_call_leads_elsewhere(
    server: HttpServer, repositories: tuple[GitRepo, GitRepo], path: str
) -> None:
    hostile_path = path.format(root=repositories[0].root)
    with server.client() as asker:
        reply = asker.error("cl_outline", target=".", path=hostile_path)
    assert "root:x:0" not in reply and "bug" not in reply and len(reply) < 4_500


def test_no_handle_of_a_call_leads_elsewhere(
    server: HttpServer, repositories: tuple[GitRepo, GitRepo], tmp_path: Path
) -> None:
    shop, _ = repositories
    (tmp_path / "secret.py").write_text("def secret():\n    return 'hidden'\n")
    shop.path("link.py").symlink_to(tmp_path / "secret.py")
    shop.path("out").symlink_to(tmp_path)
    handles = ["../secret.py", "shop.py/../../secret.py", str(tmp_path / "secret.py"),
               "link.py", "out/secret.py", "..%2fsecret.py", ".git/config"]  # fmt: skip
    with server.client() as asker:
        for handle in handles:
            reply = asker.result("cl_expand", handles=[handle], path=str(shop.root))
            assert "'hidden'" not in str(reply) and "repositoryformatversion" not in str(reply), (
                handle
            )


def test_requests_that_never_end_hold_nobody_up(
    server: HttpServer, repositories: tuple[GitRepo, GitRepo]
) -> None:
    shop, _ = repositories
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\n"
    with ExitStack() as stack:
        for _ in range(100):
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 60))
            slow.sendall(f"{head}Content-Length: 1000\r\n\r\n{{".encode())
        with server.client() as asker:
            finds(asker, "price", shop.root, "shop.py#price")


def test_more_connections_than_there_are_places_are_refused_until_some_are_free(
    server: HttpServer,
) -> None:
    places = [
        socket.create_connection(("127.0.0.1", server.port), timeout=60)
        for _ in range(MOST_CONNECTIONS)
    ]
    ask = ("GET", "/mcp", {**JSON, "Host": "127.0.0.1"})
    assert server.status(*ask) == 503
    for place in places:
        place.close()
    for _ in range(1_000):  # It learns of each end asynchronously.
        if server.status(*ask) == 401:
            break
    else:
        pytest.fail("the places of closed connections were never free again")


def test_no_rejected_request_opens_a_session(server: HttpServer) -> None:
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
    of_client = {**JSON, **server.bearer}
    for method, headers, body, status in (
        ("GET", server.bearer, None, 406),
        ("GET", of_client, None, 400),
        ("DELETE", of_client, None, 400),
        ("HEAD", of_client, None, 405),
        ("PUT", of_client, hello, 405),
        ("POST", server.bearer, hello, 406),
        ("POST", {**of_client, "content-type": "text/plain"}, hello, 415),
        ("POST", of_client, [hello], 400),
        ("POST", of_client, {**hello, "params": {}}, 400),
        ("POST", of_client, {**hello, "method": "tools/list"}, 400),
        ("POST", {**of_client, "Mcp-Session-Id": "0" * 32}, hello, 404),
    ):
        sent = json.dumps(body) if body else None
        assert server.status(method, "/mcp", headers, sent) == status, (method, headers, body)
    assert health(server)["sessions"] == 0


def health(server: HttpServer) -> dict[str, object]:
    """What the server says about itself to a request without a token."""
    wire = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    wire.request("GET", "/healthz")
    answer = wire.getresponse()
    assert answer.status == 200
    said = json.loads(answer.read())
    wire.close()
    return said


def test_requests_that_are_not_http_fill_no_log(server: HttpServer) -> None:
    """Nobody reads this server's stderr: a full pipe would stop it."""
    for _ in range(2_000):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as wire:
            wire.sendall(b"no HTTP\r\n\r\n")
            assert wire.recv(12) == b"HTTP/1.1 400"
    assert health(server)["status"] == "up"


def test_the_health_route_tells_status_version_and_sessions(server: HttpServer) -> None:
    assert health(server) == {"status": "up", "version": __version__, "sessions": 0}
    with server.client():
        assert health(server)["sessions"] == 1
    # The client does not wait until the server has ended its session.
    for _ in range(600):
        if not health(server)["sessions"]:
            break
        time.sleep(0.1)
    assert health(server)["sessions"] == 0
    assert server.status("HEAD", "/healthz", {}) == 200
    assert server.status("POST", "/healthz", {}, "{}") == 401
    assert server.status("GET", "/healthz", {"Host": "example.org"}) == 421
    assert server.status("GET", "/healthz", {"Origin": "https://example.org"}) == 403


@pytest.mark.slow
def test_of_sessions_that_nobody_ends_the_one_idle_longest_makes_way(server: HttpServer) -> None:
    wire = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    hello = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO})
    listing = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})

    def asked(body: str, **headers: str) -> tuple[int, str]:
        wire.request("POST", "/mcp", body, {**JSON, **server.bearer, **headers})
        answer = wire.getresponse()
        answer.read()
        return answer.status, answer.headers.get("Mcp-Session-Id", "")

    sessions = [asked(hello) for _ in range(MOST_SESSIONS)]
    assert {status for status, _ in sessions} == {200}
    first, second = ({"Mcp-Session-Id": session} for _, session in sessions[:2])
    assert asked(listing, **first)[0] == 200
    assert asked(hello)[0] == 200
    assert asked(listing, **second)[0] == 404
    assert asked(listing, **first)[0] == 200
    assert health(server)["sessions"] == MOST_SESSIONS
    wire.close()
