"""Who is answered: the holder of the token, who asks this machine by its own name; nobody else."""

from __future__ import annotations

import socket

import pytest
from page_site import Site

from codelens.ui import page_server
from codelens.ui.page_server import MOST_CONNECTIONS, PageAddress, PageServer, PortTaken, page_files


def raw(site: Site, data: bytes) -> bytes:
    """All that the server answers to some bytes, until it closes."""
    with socket.create_connection(("127.0.0.1", site.port), timeout=60) as connection:
        connection.sendall(data)
        said = b""
        while part := connection.recv(65_536):
            said += part
        return said


def test_the_page_and_its_files_are_served_with_a_strict_policy(site: Site) -> None:
    for name in ("", *page_files()):
        status, headers, body = site.get(site.base + name)
        assert (status, bool(body)) == (200, True)
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert "require-trusted-types-for 'script'" in policy
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "Set-Cookie" not in headers
        assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize("path", ["/", "/x/", "/x/api/standing", "//", "/%00/"])
def test_nothing_is_served_without_the_token(site: Site, path: str) -> None:
    status, _, body = site.get(path)
    assert status == 404
    assert body.startswith(b"not found; open the address that `codelens ui` printed")


def test_a_token_that_is_nearly_right_is_wrong(site: Site) -> None:
    token = site.base.strip("/")
    for wrong in (token[:-1], token + "a", token.swapcase(), token[1:]):
        assert site.get(f"/{wrong}/")[0] == 404


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "[::1]", ""]
)
def test_another_name_of_this_machine_is_refused(site: Site, host: str) -> None:
    assert site.get(site.base, {"Host": host.format(port=site.port)})[0] == 403


def test_local_host_names_are_accepted_in_any_case(site: Site) -> None:
    assert site.get(site.base, {"Host": f"LocalHost:{site.port}"})[0] == 200
    two = f"GET {site.base} HTTP/1.1\r\nHost: localhost:{site.port}\r\nHost: evil\r\n\r\n"
    assert raw(site, two.encode()).startswith(b"HTTP/1.1 403")


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("Origin", "https://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", "http://127.0.0.1:{port}", 200),
        ("Sec-Fetch-Site", "cross-site", 403),
        ("Sec-Fetch-Site", "same-site", 403),
        ("Sec-Fetch-Site", "same-origin", 200),
    ],
)
def test_other_pages_are_refused(site: Site, name: str, value: str, status: int) -> None:
    assert site.get(site.base, {name: value.format(port=site.port)})[0] == status


def test_a_link_to_the_page_may_be_followed_from_elsewhere_but_not_framed(site: Site) -> None:
    opened = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert site.get(site.base, opened | {"Sec-Fetch-Dest": "document"})[0] == 200
    assert site.get(site.base, opened | {"Sec-Fetch-Dest": "iframe"})[0] == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "<x>"])
def test_nothing_but_get_is_served(site: Site, method: str) -> None:
    said = raw(
        site, f"{method} {site.base} HTTP/1.1\r\nHost: localhost:{site.port}\r\n\r\n".encode()
    )
    assert said.startswith(b"HTTP/1.1 501")
    assert b"<x>" not in said


@pytest.mark.parametrize("header", ["Content-Length: 104857600", "Transfer-Encoding: chunked"])
def test_a_body_is_refused_unread(site: Site, header: str) -> None:
    request = f"GET {site.base} HTTP/1.1\r\nHost: localhost:{site.port}\r\n{header}\r\n\r\n"
    assert raw(site, request.encode()).startswith(b"HTTP/1.1 413")


def test_a_request_that_is_too_long_is_refused(site: Site) -> None:
    assert raw(site, b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n").startswith(b"HTTP/1.1 414")
    many = b"".join(b"X-%d: a\r\n" % number for number in range(200))
    assert raw(site, b"GET / HTTP/1.1\r\n" + many + b"\r\n").startswith(b"HTTP/1.1 431")


@pytest.mark.parametrize(
    "path",
    ["../page_server.py", "..%2fpage_server.py", "%2e%2e/page_server.py", "..\\page_server.py",
     "/etc/passwd", "//etc/passwd", "page_server.py", "index.html/", "index.html%00.js", "."],
)  # fmt: skip
def test_no_path_leads_to_another_file(site: Site, path: str) -> None:
    said = raw(
        site, f"GET {site.base}{path} HTTP/1.1\r\nHost: localhost:{site.port}\r\n\r\n".encode()
    )
    assert said.startswith(b"HTTP/1.1 404")


def test_a_slow_client_is_cut_off_and_others_are_answered(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_connection(("127.0.0.1", site.port), timeout=60) as slow:
        slow.sendall(b"GET / HT")
        assert site.get(site.base)[0] == 200
    monkeypatch.setattr(page_server, "REQUEST_S", 0.1)
    with socket.create_connection(("127.0.0.1", site.port), timeout=60) as slow:
        slow.sendall(b"GET / HT")
        assert slow.recv(100) == b""


def test_more_connections_than_there_are_places_are_closed(site: Site) -> None:
    places = [
        socket.create_connection(("127.0.0.1", site.port), timeout=60)
        for _ in range(MOST_CONNECTIONS)
    ]
    with socket.create_connection(("127.0.0.1", site.port), timeout=60) as late:
        assert late.recv(100) == b""
    for connection in places:
        connection.close()
    for _ in range(1_000):  # Their threads end on their own.
        try:
            assert site.get(site.base)[0] == 200
            break
        except (ConnectionError, OSError):
            continue
    else:
        pytest.fail("the places of closed connections were never free again")


def test_an_answer_that_still_holds_is_not_sent_again(own_site: Site) -> None:
    path = f"{own_site.base}api/source?target=shop/base.py"
    _, headers, first = own_site.get(path)
    again, _, nothing = own_site.get(path, {"If-None-Match": headers["ETag"]})
    assert (again, nothing) == (304, b"")
    own_site.repo.write("shop/base.py", "EDITED = 1\n")
    changed, _, second = own_site.get(path, {"If-None-Match": headers["ETag"]})
    assert (changed, b"EDITED" in first, b"EDITED" in second) == (200, False, True)


def test_nothing_of_a_request_is_printed(site: Site, capfd: pytest.CaptureFixture[str]) -> None:
    site.get(site.base)
    site.get("/wrong/")
    raw(site, b"nonsense\r\n\r\n")
    captured = capfd.readouterr()
    assert captured.out + captured.err == ""


def test_a_port_in_use_is_reported(site: Site) -> None:
    with pytest.raises(PortTaken, match=f"cannot listen on 127.0.0.1:{site.port}: .*--port N"):
        PageServer(site.server.questions, PageAddress(site.port))


def test_a_long_secret_has_an_address() -> None:
    secret = "s" * 200
    address = PageAddress.kept(secret, "/work/shop")
    assert address == PageAddress.kept(secret, "/work/shop")
    assert address.token != PageAddress.kept(secret[:-1], "/work/shop").token


def test_each_worktree_and_secret_has_its_own_kept_address() -> None:
    address = PageAddress.kept("secret", "/work/shop")
    assert address == PageAddress.kept("secret", "/work/shop")
    others = [
        PageAddress.kept("secret", "/work/side"),
        PageAddress.kept("other", "/work/shop"),
        PageAddress.kept("secret", "/work/shop", 20_000),
    ]
    assert len({address.token, *(other.token for other in others)}) == 4
    assert len({address.port, *(other.port for other in others)}) == 4
    assert others[-1].port == 20_000
    assert all(20_000 <= other.port < 32_768 and len(other.token) == 32 for other in others)
    assert PageAddress().token != PageAddress().token
