"""Answers a client's first turn without the SDK, in exactly the SDK's words.

`recorded_answers.json` contains the SDK's answers for this version of codelens with all tools; the
test of this module compares the two. After a change to a tool, run `python -m
codelens.serve.record_answers`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol, cast

from codelens.errors import SettingError
from codelens.serve.client_streams import RequestId
from codelens.serve.tool_table import ROWS, instructions

RECORD = Path(__file__).with_name("recorded_answers.json")
"""Results by era and method; `tools/list` names every tool, `initialize` has no version in it."""


def known_answers(names: Sequence[str]) -> Answers:
    """The recorded answers of a server that lists these tools."""
    recorded: dict[str, dict[str, dict[str, Any]]] = json.loads(RECORD.read_text("utf-8"))
    listed = {tool["name"]: tool for tool in recorded["shared"]["tools/list"]["tools"]}
    shared = {
        **recorded["shared"],
        "tools/list": {"tools": [listed[name] for name in names if name in listed]},
    }
    texts = {"instructions": instructions(names)}
    handshake = {**shared, "initialize": {**recorded["handshake"]["initialize"], **texts}}
    modern = {
        method: {**shared[method], **rest}
        for method, rest in recorded["modern"].items()
        if method in shared
    }
    modern["server/discover"] = {**recorded["modern"]["server/discover"], **texts}
    return Answers(handshake, modern)


# Chooses the tools that a server lists: each tool costs an agent tokens at every turn.

ALL = tuple(ROWS)
CORE = tuple(row.name for row in ROWS.values() if row.profile == "core")
"""The default profile; all its tools are read-only."""
_PROFILES = {
    profile: tuple(row.name for row in ROWS.values() if row.profile == profile)
    for profile in dict.fromkeys(row.profile for row in ROWS.values())
} | {"all": ALL}


def chosen(setting: str) -> tuple[str, ...]:
    """The tools that `CODELENS_TOOLS` selects, in the order of `ALL`.

    Args:
        setting: profiles (`all` or the `profile` of rows) and names of tools, separated by
            commas; empty means `core`.

    Raises:
        SettingError: a word is neither a profile nor a tool.
    """
    words = [word.strip() for word in setting.split(",") if word.strip()] or ["core"]
    names: set[str] = set()
    for word in words:
        if word in _PROFILES:
            names.update(_PROFILES[word])
        elif word in ALL:
            names.add(word)
        else:
            raise SettingError(
                f"CODELENS_TOOLS: unknown tool or profile {word[:50]!r}; "
                f"the choices are {', '.join(_PROFILES)}, {', '.join(ALL)}"
            )
    return tuple(name for name in ALL if name in names)


# Answers requests without the SDK: the first turn, and calls once the engine is imported.
#
# Importing the SDK takes more than a second, and a host that does not wait for it runs its first
# turn without our tools. So requests with a recorded answer are answered here; simple calls are
# passed to `calls`; everything else waits for the SDK, which first receives the lines that it
# missed (`replayed`).
#
# Only a request of exactly a known shape is answered here. The SDK handles any unusual one.

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Protocol versions that begin with `initialize`."""
MODERN_VERSION = "2026-07-28"
"""The version in which every request carries the fields of `initialize`."""

CANCELLED = "notifications/cancelled"
LISTS = ("tools/list", "prompts/list", "resources/list")

_ENVELOPE = "io.modelcontextprotocol/"
_VERSION, _INFO, _CAPABILITIES = (
    _ENVELOPE + name for name in ("protocolVersion", "clientInfo", "clientCapabilities")
)
_FREE_FORM = ("experimental", "extensions")
_LARGEST_ID = 2**53


class Answers:
    """The results that are known before the SDK is imported.

    Args:
        handshake: results by method, for the versions that begin with `initialize`.
        modern: results by method, for `MODERN_VERSION`.
    """

    def __init__(
        self, handshake: Mapping[str, dict[str, Any]], modern: Mapping[str, dict[str, Any]]
    ) -> None:
        self.handshake = handshake
        self.modern = modern


class TakesCalls(Protocol):
    """Answers calls of tools."""

    def take(self, identity: RequestId, params: Mapping[str, Any], *, has_roots: bool) -> bool:
        """Answer a call, now or later; False if only the SDK can."""
        ...

    def cancel(self, identity: RequestId) -> None:
        """Cancel this request, if it is one of these."""
        ...


class Front:
    """Serves one client until a request needs the SDK.

    Args:
        answers: the recorded answers.
    """

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._era: str | None = None
        self._has_roots = False
        self.calls: TakesCalls | None = None
        """Answers calls, once it is set."""
        self.replayed: list[str] = []
        """The lines that the SDK must process first to reach the client's state."""
        self.opened: RequestId | None = None
        """The request among `replayed` that was answered here."""

    def answer(self, line: str) -> dict[str, Any] | None:
        """The reply to a line; empty if it needs no reply; None if only the SDK can answer."""
        message = _message(line)
        if message is None:
            return None
        method, params = message["method"], message.get("params", {})
        if "id" not in message:
            return self._notified(line, method, params)
        if method == "tools/call":
            return {} if self._takes_call(message["id"], params) else None
        result = self._result(method, params)
        if result is None:
            return None
        if self._era is None:
            self._era = "handshake" if method == "initialize" else "modern"
            self.opened = message["id"]
            self.replayed.append(line)
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def cancels(self, line: str) -> bool:
        """Whether a line cancels a request; if so, pass that on to `calls`.

        A cancellation of an answered or unknown request must be ignored.
        """
        if self.calls is None or self._era != "handshake" or CANCELLED not in line:
            return False
        message = _message(line)
        if message is None or message["method"] != CANCELLED or "id" in message:
            return False
        params = message.get("params", {})
        identity = params.get("requestId")
        if not _is_id(identity):
            return False
        self.calls.cancel(cast("RequestId", identity))
        return True

    def _takes_call(self, identity: RequestId, params: Mapping[str, Any]) -> bool:
        return (
            self.calls is not None
            and self._era == "handshake"
            and _only(params, "name", "arguments", "_meta")
            and _has_plain_meta(params)
            and self.calls.take(identity, params, has_roots=self._has_roots)
        )

    def _notified(self, line: str, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        if method != "notifications/initialized" or self._era != "handshake" or params:
            return None
        self.replayed.append(line)
        return {}

    def _result(self, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        if _is_modern(params):
            is_recorded = method in self._answers.modern and _only(params, "_meta")
            return (
                self._answers.modern[method] if is_recorded and self._era != "handshake" else None
            )
        if method == "initialize":
            return self._initialized(params) if self._era is None else None
        if self._era != "handshake" or not _is_plain(params):
            return None
        return {} if method == "ping" else self._listed(method)

    def _listed(self, method: str) -> dict[str, Any] | None:
        return self._answers.handshake[method] if method in LISTS else None

    def _initialized(self, params: Mapping[str, Any]) -> dict[str, Any] | None:
        version = params.get("protocolVersion")
        sound = (
            _only(params, "protocolVersion", "capabilities", "clientInfo")
            and isinstance(version, str)
            and _is_client(params.get("clientInfo"))
            and _are_capabilities(params.get("capabilities"))
        )
        if not sound:
            return None
        self._has_roots = "roots" in params["capabilities"]
        agreed = version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        return {**self._answers.handshake["initialize"], "protocolVersion": agreed}


def _message(line: str) -> dict[str, Any] | None:
    """Parse a request or notification of the simplest form; None for any other line."""
    try:
        message = _object(json.loads(line, parse_constant=_no_constant))
    except (ValueError, RecursionError):
        return None
    if message is None or not _only(message, "jsonrpc", "id", "method", "params"):
        return None
    sound = (
        message.get("jsonrpc") == "2.0"
        and isinstance(message.get("method"), str)
        and isinstance(message.get("params", {}), dict)
        and _is_id(message.get("id", 0))
    )
    return message if sound else None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _object(value: object) -> dict[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _objects(values: Iterable[object]) -> list[dict[str, Any]] | None:
    """The values, if all are objects; otherwise None."""
    objects = [_object(value) for value in values]
    sound = [item for item in objects if item is not None]
    return sound if len(sound) == len(objects) else None


def _only(fields: Mapping[str, Any], *names: str) -> bool:
    return fields.keys() <= set(names)


def _is_id(value: object) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < _LARGEST_ID
    return isinstance(value, str)


def _is_modern(params: Mapping[str, Any]) -> bool:
    """Whether a request has the complete envelope of `MODERN_VERSION` and nothing else."""
    meta = _object(params.get("_meta")) or {}
    envelope = {name for name in meta if name.startswith(_ENVELOPE)}
    return (
        envelope <= {_VERSION, _INFO, _CAPABILITIES}
        and meta.get(_VERSION) == MODERN_VERSION
        and _are_capabilities(meta.get(_CAPABILITIES))
        and (_INFO not in meta or _is_client(meta[_INFO]))
        and _is_id(meta.get("progressToken", 0))
    )


def _is_plain(params: Mapping[str, Any]) -> bool:
    """Whether the parameters are empty, except for a `_meta` of an older version."""
    return _only(params, "_meta") and _has_plain_meta(params)


def _has_plain_meta(params: Mapping[str, Any]) -> bool:
    meta = _object(params.get("_meta", {}))
    return (
        meta is not None
        and not any(name.startswith(_ENVELOPE) for name in meta)
        and _is_id(meta.get("progressToken", 0))
    )


def _is_client(value: object) -> bool:
    info = _object(value) or {}
    return (
        isinstance(info.get("name"), str)
        and isinstance(info.get("version"), str)
        and all(
            isinstance(info.get(key, ""), str) for key in ("title", "description", "websiteUrl")
        )
        and "icons" not in info
    )


def _are_capabilities(value: object) -> bool:
    capabilities = _object(value)
    if capabilities is None:
        return False
    return all(
        _is_capability(name, _object(capability)) for name, capability in capabilities.items()
    )


def _is_capability(name: str, capability: Mapping[str, Any] | None) -> bool:
    if capability is None:
        return False
    if name == "roots":
        return _only(capability, "listChanged") and isinstance(
            capability.get("listChanged", True), bool
        )
    # The protocol leaves the form of these settings open, so they are not checked.
    level = _objects(capability.values())
    if name in _FREE_FORM or level is None:
        return level is not None
    below = [inner for outer in level for inner in outer.values()]
    return all(isinstance(inner, bool) if name == "elicitation" else inner == {} for inner in below)
