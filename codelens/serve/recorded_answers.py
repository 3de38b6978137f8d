"""The answers of the first turn, word for word as the SDK gives them.

`recorded_answers.json` holds what the SDK answers for this version of codelens with all tools; the
test of
this module compares the two. After a change of a tool: `python -m codelens.serve.record_answers`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codelens.serve.first_turn import Answers
from codelens.serve.tools.server_instructions import instructions

RECORD = Path(__file__).with_name("recorded_answers.json")
"""Results by era and method; `tools/list` names every tool, `initialize` has no version in it."""


def known_answers(names: Sequence[str]) -> Answers:
    """What a server that lists the tools of these names answers."""
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
