"""`codelens ui`, from start to Ctrl-C."""

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
        path: any path inside the worktree to begin with.
        port: of loopback; 0: a free one.
        editor: where links to code lead, as `editor_template` takes it; None: the setting.
        started: told the address and the worktree, once the page answers.

    Raises:
        PortTaken: the port cannot be had.
        ScopeError: `path` cannot be served.
        SettingError: there is no such editor.
    """
    # Who looks around is no agent at work: the session trail and the usage stay as they are.
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
    """Close the engines, unless that takes long: what is indexed is kept in any case.

    An engine waits for what holds its index, and that may be the first look at a large repository.
    """

    def close() -> None:
        for engine in engines:
            engine.close()

    closing = threading.Thread(target=close, name="page-close", daemon=True)
    closing.start()
    closing.join(_CLOSE_S)
