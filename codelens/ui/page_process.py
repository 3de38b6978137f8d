"""Runs `codelens ui` from its start to Ctrl-C."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from codelens import config
from codelens.bearer_token import PAGE_SECRET, bearer_token
from codelens.engine.engine import Engine
from codelens.engine.worktree_paths import root_of
from codelens.ui.page_questions import Engines, PageQuestions, editor_template
from codelens.ui.page_server import PageAddress, PageServer, PortTaken

_CLOSE_S = 1.0


def serve_page(
    path: str,
    started: Callable[[str, str, str], None],
    *,
    port: int | None = None,
    once: bool = False,
    editor: str | None = None,
) -> None:
    """Serve the page until interrupted.

    Args:
        path: any path inside the worktree to start with.
        started: called with the address, the worktree and a note, once the server answers.
        port: the port on loopback; 0: a free port; None: the port of the kept address.
        once: use a new secret and a free port, and keep neither.
        editor: the editor for links to code, as in `editor_template`; None: the setting.

    Raises:
        PortTaken: `port` is not available.
        UnusableToken: the secret of the home cannot be used.
        ScopeError: `path` cannot be served.
        SettingError: the editor is unknown.
    """
    # A user who browses is not a working agent: neither the session trail nor usage is recorded.
    settings = replace(config.load(), usage=False, trail=False, sent=False)
    template = editor_template(settings.editor if editor is None else editor)
    root = root_of(path)
    engines = Engines(Engine(settings, keep_going=True), Engine(settings))
    try:
        engines.quick.refs(path=root)
        questions = PageQuestions(engines, root, template)
        address = PageAddress(port or 0) if once else _kept_address(settings.home, root, port)
        server, note = _listening(questions, address, any_port=port is None)
        with server:
            engines.quick.begin(root)
            started(server.address.url, root, note)
            server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        return
    finally:
        _close(engines)


def _kept_address(home: Path, root: str, port: int | None) -> PageAddress:
    """The address of a worktree at each start, at another port if one is given."""
    return PageAddress.kept(bearer_token(home, PAGE_SECRET).text, root, port)


def _listening(
    questions: PageQuestions, address: PageAddress, *, any_port: bool
) -> tuple[PageServer, str]:
    """A server at the address; if its port is not available, at a free one with a new secret.

    Whoever listens at the kept port learns the kept token from a link that is followed now, so it
    does not open the page at another port.

    Returns:
        The server, and a note if it is elsewhere.
    """
    try:
        return PageServer(questions, address), ""
    except PortTaken as error:
        if not any_port:
            raise
        reason = error.reason
    server = PageServer(questions, PageAddress())
    return server, (
        f"links of earlier starts do not work: port {address.port} cannot be used ({reason}), "
        "maybe because this page is open in another terminal; this address is only for this start"
    )


def _close(engines: Engines) -> None:
    """Close the engines, unless that takes long; indexed data is kept in any case.

    An engine waits for the work on its index, maybe the first indexing of a large repository.
    """

    def close() -> None:
        for engine in engines:
            engine.close()

    closing = threading.Thread(target=close, name="page-close", daemon=True)
    closing.start()
    closing.join(_CLOSE_S)
