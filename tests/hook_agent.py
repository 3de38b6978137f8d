"""A host that calls hooks, for tests: each event is a separate process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ID = "6fa459ea-ee8a-3ca4-894e-db77e160355e"


_PATIENT = """
import sys
from codelens.hooks import hook_run, work_elsewhere
work_elsewhere._LONGEST_LOOK_S = work_elsewhere._LONGEST_S = 100
sys.exit(hook_run.run(sys.argv[1:]))
"""
"""A hook that waits for the engine long enough for a busy machine."""


class Agent:
    """A host in a worktree; a patient one asks for what may take seconds."""

    def __init__(self, home: Path, folder: Path, *, patient: bool = False) -> None:
        self.home, self.folder = home, folder
        self.program = ["-c", _PATIENT] if patient else ["-m", "codelens", "hook"]

    def run(self, event: str, data: bytes, **env: str) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(
            [sys.executable, *self.program, event], cwd=self.folder, input=data,
            env={**os.environ, "CODELENS_HOME": str(self.home), **env}, capture_output=True,
        )  # fmt: skip
        assert done.returncode == 0
        return done

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
