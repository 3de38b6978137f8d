"""A model's first request says each piece of advice once: in the server or in files, not both."""

from __future__ import annotations

import json
import re
import tomllib

from codelens.hosts.desired_edits import instructions, skill
from codelens.paths import shipped
from codelens.serve.first_turn import CORE, known_answers

ADVICE = re.compile(r"before (?:you )?grep|instead of grep", re.IGNORECASE)


def of_the_server() -> str:
    """Instructions and the core tools, as a client puts them into a request."""
    handshake = known_answers(CORE).handshake
    return json.dumps([handshake["initialize"]["instructions"], handshake["tools/list"]["tools"]])


def of_the_files() -> str:
    """The lines in the instructions file, and the always-loaded parts of skill and commands."""
    commands = tomllib.loads((shipped("install") / "commands.toml").read_text("utf-8"))
    about = re.search(r"^description: (.*)$", skill(), re.MULTILINE)
    assert about
    return "\n".join([instructions(), about[1], *(one["description"] for one in commands.values())])


def test_when_to_use_codelens_is_said_once_and_by_the_server() -> None:
    assert len(ADVICE.findall(of_the_server())) == 1
    assert not ADVICE.findall(of_the_files())


def test_files_name_no_tool_and_show_commands_to_agents_without_tools() -> None:
    assert "cl_" not in of_the_files()
    assert "codelens search" in instructions()
    assert len(of_the_files()) / 4 < 140
