"""Runs `codelens ui` from its start to Ctrl-C."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from codelens import config
from codelens.engine.engine import Engine
from codelens.engine.worktree_paths import root_of
from codelens.ui.page_questions import Engines, PageQuestions, editor_template
from codelens.ui.page_server import PageServer

_CLOSE_S = 1.0


def serve_page(
    path: str, port: int, editor: str | None, started: Callable[[str, str], None]
) -> None:
    """Serve the page until interrupted.

    Args:
        path: any path inside the worktree to start with.
        port: the port on loopback; 0: a free port.
        editor: the editor for links to code, as in `editor_template`; None: the setting.
        started: called with the address and the worktree, once the server answers.

    Raises:
        PortTaken: the port is not available.
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
        with PageServer(PageQuestions(engines, root, template), port) as server:
            engines.quick.begin(root)
            started(server.address.url, root)
            server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        return
    finally:
        _close(engines)


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
