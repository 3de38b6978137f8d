"""The MCP server over stdin and stdout; stdout belongs to the protocol, logs go to stderr."""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
from collections.abc import Sequence
from typing import Any

from mcp.server import MCPServer

from codelens import __version__, config
from codelens.config import DEFAULT_BUDGET_MS, Settings
from codelens.engine import usage
from codelens.engine.engine import Engine
from codelens.serve.descriptions import instructions
from codelens.serve.frame import Frame
from codelens.serve.graph_tools import GraphTools
from codelens.serve.memory_tools import MemoryTools
from codelens.serve.profiles import chosen
from codelens.serve.reading_tools import ReadingTools
from codelens.serve.stdin import divert
from codelens.serve.upkeep_tools import UpkeepTools
from codelens.serve.worktree import Worktrees

_CLOSE_S = 2.0
_GROUPS = (ReadingTools, GraphTools, MemoryTools, UpkeepTools)


def serve(root: str | None = None, budget_ms: float | None = None) -> int:
    """Serve until stdin closes; the exit code. May end the process itself, see `_leave`.

    Args:
        root: where to look when a call names no path.
        budget_ms: how long a look may take; None: the setting, else 500.

    Raises:
        SettingError: a setting has a value it cannot have.
    """
    settings = config.load()
    names = chosen(settings.tools)
    # A view is a hundred thousand objects that stay, and a query makes thousands that go by
    # themselves: with Python's defaults looking for cycles is an eighth of a query.
    gc.set_threshold(50_000, 20, 50)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="codelens: %(message)s")
    engine = Engine(settings, keep_going=True)
    server = make_server(engine, root, _budget(budget_ms, settings), names)
    divert()
    server.run("stdio")
    _leave(engine)
    return 0


def make_server(
    engine: Engine, root: str | None, budget_ms: float, names: Sequence[str]
) -> MCPServer[Any]:
    """A server with the tools of these names, not yet running."""
    frame = Frame(engine, Worktrees(root, os.environ), budget_ms)
    made = {tool.name: tool for group in _GROUPS for tool in group(frame).listed()}
    return MCPServer(
        "codelens",
        version=__version__,
        instructions=instructions(names),
        tools=[made[name] for name in names if name in made],
        log_level="WARNING",
    )


def _budget(given: float | None, settings: Settings) -> float:
    if given is not None:
        return given
    return DEFAULT_BUDGET_MS if settings.budget_ms is None else settings.budget_ms


def _leave(engine: Engine) -> None:
    """End the process now: a look that goes on in a thread must not outlive the client.

    What is written is written in transactions, so leaving in the midst of one loses nothing else.
    """
    usage.tidy(engine.settings.home)
    closing = threading.Thread(target=engine.close, daemon=True)
    closing.start()
    closing.join(_CLOSE_S)
    sys.stdout.flush()
    sys.stderr.flush()
    if closing.is_alive() or threading.active_count() > 1:
        os._exit(0)
