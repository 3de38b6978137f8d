"""Generates files from the table of tools: `python -m codelens.serve.record_answers`.

In a checkout, it writes the SDK's answers of the first turn, the rows of `docs/mcp.md`, and the
tools that `codelens install --approve` names (`install/tools.toml`).
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

from mcp.server import MCPServer

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.paths import default_home
from codelens.serve.call_answers import ClientCalls
from codelens.serve.client_streams import Lines, Replies
from codelens.serve.first_turn import ALL, HANDSHAKE_VERSIONS, LISTS, MODERN_VERSION, RECORD
from codelens.serve.sdk_server import run, sdk_server_for
from codelens.serve.tool_row import FORMAT, PATH, Argument, ToolRow
from codelens.serve.tool_table import ROWS

_PATIENCE_S = 10.0
_CLIENT = {"name": "record", "version": "0"}


def sdk_answers(
    messages: Iterable[Mapping[str, Any]], names: Iterable[str] = ALL
) -> list[dict[str, Any]]:
    """The SDK's answers to these messages, in the order of the requests' ids.

    Args:
        messages: requests with numeric ids, and notifications.
        names: the tools that the server lists.
    """
    with Engine(Settings(default_home({}))) as engine:
        calls = ClientCalls.of_process(engine, None, 0)
        return answers_of(sdk_server_for(calls, tuple(names)), messages)


def answers_of(
    server: MCPServer[Any], messages: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """A server's answers to these messages."""
    lines, expected = Lines(), 0
    for message in messages:
        expected += "id" in message
        lines.put(json.dumps(message) + "\n")
    sink = _Sink(expected, lines)
    replies = Replies(sink, lines.end)
    run(server, lines, replies)
    replies.close(_PATIENCE_S)
    return sorted(map(json.loads, sink.getvalue().splitlines()), key=lambda request: request["id"])


class _Sink(io.BytesIO):
    """Ends the client's lines after the last answer, so that the SDK stops."""

    def __init__(self, answer_count: int, lines: Lines) -> None:
        super().__init__()
        self._expected = answer_count
        self._lines = lines

    def flush(self) -> None:
        """Count the lines; the SDK calls this after each of them."""
        if self.getvalue().count(b"\n") == self._expected:
            self._lines.end()


def handshake_requests(version: str) -> list[dict[str, Any]]:
    """The first turn of a client that begins with `initialize`."""
    opening = {"protocolVersion": version, "capabilities": {}, "clientInfo": _CLIENT}
    return [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(
            {"jsonrpc": "2.0", "id": number, "method": method}
            for number, method in enumerate(("ping", *LISTS), 1)
        ),
    ]


def modern_requests() -> list[dict[str, Any]]:
    """The first turn of a client of `MODERN_VERSION`."""
    envelope = {
        "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
        "io.modelcontextprotocol/clientInfo": _CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": {"_meta": envelope}}
        for number, method in enumerate(("server/discover", *LISTS))
    ]


def recorded() -> dict[str, dict[str, Any]]:
    """The contents of `recorded_answers.json`, from the SDK."""
    opening, _, *lists = (
        sdk_answer["result"]
        for sdk_answer in sdk_answers(handshake_requests(HANDSHAKE_VERSIONS[-1]))
    )
    discovered, *modern = (sdk_answer["result"] for sdk_answer in sdk_answers(modern_requests()))
    shared: dict[str, Any] = dict(zip(LISTS, lists, strict=True))
    del opening["protocolVersion"], opening["instructions"], discovered["instructions"]
    rest: dict[str, Any] = {
        method: {key: value for key, value in answer.items() if key not in shared[method]}
        for method, answer in zip(LISTS, modern, strict=True)
    }
    return {
        "shared": shared,
        "handshake": {"initialize": opening},
        "modern": {"server/discover": discovered, **rest},
    }


def documented(page: str) -> str:
    """`docs/mcp.md` with current rows of the tools."""
    rows = {f"| `{row.name}` |": documented_row(row) for row in ROWS.values()}
    lines = page.split("\n")
    return "\n".join(rows.get(line[: line.find("|", 1) + 1], line) for line in lines)


def documented_row(row: ToolRow) -> str:
    """A tool's name, question and arguments as a row of Markdown."""
    own = [
        argument
        for argument in row.arguments
        if argument not in (PATH, FORMAT) and argument.name != "max_tokens"
    ]
    arguments = ", ".join(map(_documented_argument, own))
    return f"| `{row.name}` | {row.question} | {arguments} |".replace("|  |", "| |")


def _documented_argument(argument: Argument) -> str:
    is_plain = argument.default not in (None, False, "", "auto", "all", "both", "note", [])
    default = (
        json.dumps(argument.default)
        if isinstance(argument.default, bool | int)
        else f"`{argument.default}`"
    )
    return f"`{argument.name}` ({default})" if is_plain else f"`{argument.name}`"


def approved() -> str:
    """The contents of `install/tools.toml`."""

    def names(profile: str) -> str:
        return "".join(f'  "{row.name}",\n' for row in ROWS.values() if row.profile == profile)

    return (
        "# The tools that `codelens install --approve` lets agents call unasked, which only read: "
        "the core\n# ones, and with `--branches` those about branches.\n"
        "# Written by `python -m codelens.serve.record_answers`.\n"
        f"read_only = [\n{names('core')}]\nbranches = [\n{names('branches')}]\n"
    )


if __name__ == "__main__":
    RECORD.write_text(json.dumps(recorded(), indent=1, sort_keys=True) + "\n", "utf-8")
    checkout = RECORD.parents[2]
    (checkout / "install" / "tools.toml").write_text(approved(), "utf-8")
    page = checkout / "docs" / "mcp.md"
    page.write_text(documented(page.read_text("utf-8")), "utf-8")
