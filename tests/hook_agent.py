"""A host that calls hooks, for tests: each event is a separate process (a fork)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from forked_commands import codelens

ID = "6fa459ea-ee8a-3ca4-894e-db77e160355e"


_PATIENT = """
from codelens.hooks import work_elsewhere
work_elsewhere._LONGEST_LOOK_S = work_elsewhere._LONGEST_S = 100
"""
"""Lets a hook wait for the engine long enough for a busy machine."""


class Agent:
    """A host in a worktree; a patient one asks for what may take seconds."""

    def __init__(self, home: Path, folder: Path, *, patient: bool = False) -> None:
        self.home, self.folder = home, folder
        self.first = _PATIENT if patient else ""

    def run(self, event: str, data: bytes, **env: str) -> subprocess.CompletedProcess[bytes]:
        done = self.codelens("hook", event, given=data, env=env, first=self.first)
        assert done.returncode == 0
        return done

    def codelens(self, *args: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
        """Runs any command in the worktree."""
        return codelens(*args, cwd=self.folder, home=self.home, **more)

    def hook(self, event: str, name: str, **fields: object) -> str:
        """What the model reads."""
        said = {"session_id": ID, "cwd": str(self.folder), "hook_event_name": name, **fields}
        out = self.run(event, json.dumps(said).encode()).stdout
        if not out:
            return ""
        answer = json.loads(out)["hookSpecificOutput"]
        assert answer["hookEventName"] == name
        return answer["additionalContext"]

    def prompt(self, text: str) -> str:
        return self.hook("prompt", "UserPromptSubmit", prompt=text)

    def edit(self, path: Path, tool: str = "Edit") -> str:
        fields = {"tool_name": tool, "tool_input": {"file_path": str(path)}}
        warning = self.hook("before-edit", "PreToolUse", **fields)
        path.write_text(path.read_text() + f"# by {self.folder.name}\n")
        assert self.hook("after-tool", "PostToolUse", **fields, tool_response={"ok": True}) == ""
        return warning

    def log(self) -> str:
        file = self.home / "logs" / "hooks.log"
        return file.read_text() if file.exists() else ""
