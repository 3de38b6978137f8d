"""Asks every command, hook event and MCP tool once about a damaged place.

    python tests/corpus/every_question.py ROOT [--home FOLDER]

Prints a line of JSON for each question: exit code, memory and output. Each command runs in a fork
of one process that imported them all; one server answers the tools. In any state of the
place, each is answered or refused in plain words, in little memory, and none hangs.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

MOST_RESIDENT_KB = 600 * 1024
"""Most memory of a question: less than the huge files, more than libraries need."""
MOST_ADDRESSES = 4 * 1024**3
"""A server has threads with large stacks. A file of 3 GB fills part of this before it fails."""
CPU_S = 60
HANGS_S = 90.0
"""Wall time: a process that waits at a pipe needs no CPU."""
_FIRST = f"""
import resource, signal
# A background job of a shell ignores SIGINT, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
resource.setrlimit(resource.RLIMIT_AS, ({MOST_ADDRESSES}, {MOST_ADDRESSES}))
resource.setrlimit(resource.RLIMIT_CPU, ({CPU_S}, {CPU_S}))
"""

COMMANDS: dict[str, tuple[str, ...]] = {
    "search": ("search kindle", "search --ref side kindle", "search --mode regex kin.le"),
    "explore": ("explore kindle --max-tokens 2000",),
    "expand": ("expand lamp.py#kindle", "expand side:lamp.py#kindle"),
    "outline": ("outline .",),
    "map": ("map",),
    "related": ("related kindle",),
    "references": ("references kindle",),
    "impact": ("impact --diff HEAD~1",),
    "diff": ("diff", "diff main...side"),
    "history": ("history lamp.py#kindle",),
    "conflicts": ("conflicts",),
    "status": ("status", "status --all"),
    "save": ("save rough --note words lamp.py#kindle --replace",),
    "load": ("load", "load rough"),
    "forget": ("forget --expired",),
    "session": ("session --all",),
    "recover": ("recover",),
    "index": ("index", "index --ref side"),
    "pack": ("pack -o {scratch}/made.pack",),
    "unpack": ("unpack {scratch}/made.pack",),
    "prune": ("prune --dry-run", "prune --yes"),
    "drop": ("drop side --force",),
    "pin": ("pin side",),
    "unpin": ("unpin side",),
    "meaning": ("meaning status", "meaning test kindle", "meaning list"),
    "usage": ("usage",),
    "export": ("export symbols", "export edges", "export contexts"),
    "scip": ("scip check", "scip export {scratch}/made.scip", "scip forget"),
    "languages": ("languages",),
    "doctor": ("doctor",),
    "install": ("install --dry-run --host claude-code", "install --check"),
    "uninstall": ("uninstall --dry-run --host claude-code",),
    "completion": ("completion bash",),
    "serve": (),  # for the tools, which all ask one server
    "ui": ("ui",),
    "focus": ("focus", "focus find lamp"),
    "hook": tuple(
        f"hook {event}"
        for event in (
            "prompt", "session-start", "stop", "before-edit", "after-tool", "before-compact"
        )
    ),
}  # fmt: skip
"""The questions of each command that reach the most code."""

TOOLS: dict[str, dict[str, object]] = {
    "cl_search": {"query": "kindle"},
    "cl_explore": {"task": "kindle the lamp"},
    "cl_expand": {"handles": ["lamp.py#kindle", "side:lamp.py#kindle"]},
    "cl_outline": {},
    "cl_map": {},
    "cl_related": {"target": "kindle"},
    "cl_references": {"target": "kindle"},
    "cl_impact": {"diff": "HEAD~1"},
    "cl_current": {"detail": True},
    "cl_branches": {"question": "diff", "spec": "main...side"},
    "cl_diff": {"spec": "main...side"},
    "cl_history": {"target": "lamp.py#kindle"},
    "cl_conflicts": {},
    "cl_save": {"name": "rough", "note": "words", "replace": True},
    "cl_load": {},
    "cl_forget": {"expired": True},
    "cl_recover": {},
    "cl_index": {"action": "status"},
    "cl_prune": {"dry_run": True},
    "cl_drop": {"view": "side", "force": True},
}


_BUGS = ("is a bug in codelens", "internal error", "Internal error")


class Asked(NamedTuple):
    """A question and its outcome."""

    question: str
    code: int
    """Exit code; negative: the signal that ended it. A tool gives 0, or 2 for an error."""
    resident_kb: int
    out: str
    err: str

    def fault(self) -> str:
        """What is wrong with the outcome; empty if nothing is."""
        if self.code not in {0, 1, 2}:
            return f"ended with {self.code}"
        if "Traceback" in self.err:
            return "a traceback"
        if any(words in self.out + self.err for words in _BUGS):
            return "a bug by its own account"
        if self.resident_kb > MOST_RESIDENT_KB:
            return f"took {self.resident_kb // 1024} MB"
        return ""


def ask_all(root: Path, home: Path, *, tools: bool = True) -> list[Asked]:
    """Asks every question about a worktree, each in a separate process."""
    from gitrepo import git_environment

    env = git_environment({"CODELENS_HOME": str(home), "HOME": str(home.parent)})
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    args = [sys.executable, "-P", __file__, str(root), "--home", str(home)]
    done = subprocess.run(
        [*args, *([] if tools else ["--no-tools"])], env=env, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"asking failed: {done.stderr[-2000:]}")
    return [Asked(*json.loads(line)) for line in done.stdout.splitlines()]


def commands_asked(root: Path, scratch: Path) -> Iterator[Asked]:
    """Runs each question of `COMMANDS` in a fork of this process."""
    from forked_commands import import_all

    import_all()
    said = json.dumps(
        {"session_id": "one", "cwd": str(root), "tool_name": "Edit", "prompt": "kindle the lamp",
         "tool_input": {"file_path": str(root / "lamp.py"), "old_string": "def kindle"}}
    )  # fmt: skip
    for command, questions in COMMANDS.items():
        for question in questions:
            given = said if command == "hook" else ""
            yield asked_in_a_fork(question.format(scratch=scratch), root, scratch, given)


def asked_in_a_fork(question: str, root: Path, scratch: Path, given: str) -> Asked:
    """Runs one command; `ui` is stopped once it has printed its address."""
    from forked_commands import run_and_exit

    files = [scratch / name for name in ("in", "out", "err")]
    for path in files:
        path.unlink(missing_ok=True)
    files[0].write_text(given)
    pid = os.fork()
    if pid == 0:
        streams = [str(path) for path in files]
        run_and_exit(question.split(), str(root), dict(os.environ), _FIRST, streams)
    until = time.monotonic() + HANGS_S
    interrupted = False
    while True:
        ended, status, used = os.wait4(pid, os.WNOHANG)
        if ended:
            break
        if question == "ui" and not interrupted and files[1].exists():
            interrupted = b"http" in files[1].read_bytes()
            if interrupted:
                os.kill(pid, signal.SIGINT)
        if time.monotonic() > until:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)
    code = os.waitstatus_to_exitcode(status)
    if interrupted and code in {130, -signal.SIGINT}:
        code = 0
    out, err = (path.read_text("utf-8", "replace") for path in files[1:])
    return Asked(question, code, used.ru_maxrss, out, err)


class Server:
    """A server with a timeout for each answer."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self._errors = scratch / "server-err"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "codelens", "serve"], cwd=root, bufsize=0,
            env={**os.environ, "CODELENS_TOOLS": "all"}, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self._errors.open("wb"),
        )  # fmt: skip
        most = (MOST_ADDRESSES, MOST_ADDRESSES)
        resource.prlimit(self._process.pid, resource.RLIMIT_AS, most)
        self._buffer = b""
        self._number = 0
        me = {"name": "rough", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": me}
        self.ask("initialize", hello)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def tool(self, name: str, arguments: dict[str, object]) -> Asked:
        answer = self.ask("tools/call", {"name": name, "arguments": arguments})
        err = self._errors.read_text("utf-8", "replace")
        if answer is None:
            resident_kb, code = self._resident_kb(), self._process.poll()
            self._process.kill()
            return Asked(name, -signal.SIGKILL if code is None else code, resident_kb, "", err)
        content = answer.get("result", {}).get("content", [{}])
        failed = "error" in answer or answer["result"].get("isError", False)
        text = content[0].get("text", "") if content else ""
        out = text or json.dumps(answer.get("error", ""))
        return Asked(name, 2 if failed else 0, self._resident_kb(), out, err)

    def ask(self, method: str, params: object) -> dict | None:
        """The answer; None if it did not come in time, or the server ended."""
        self._number += 1
        try:
            self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        except OSError:
            return None
        until = time.monotonic() + HANGS_S
        while (line := self._line(until)) is not None:
            answer = json.loads(line)
            if answer.get("id") == self._number:
                return answer
        return None

    def _send(self, message: dict) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")

    def _line(self, until: float) -> bytes | None:
        assert self._process.stdout is not None
        while b"\n" not in self._buffer:
            left = max(0.0, until - time.monotonic())
            if not select.select([self._process.stdout], [], [], left)[0]:
                return None
            part = os.read(self._process.stdout.fileno(), 1 << 20)
            if not part:
                return None
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _resident_kb(self) -> int:
        try:
            text = Path(f"/proc/{self._process.pid}/status").read_text()
        except OSError:
            return 0
        return int(text.partition("VmHWM:")[2].split()[0])

    def close(self) -> int:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            return self._process.wait(HANGS_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def tools_asked(root: Path, scratch: Path) -> Iterator[Asked]:
    """Asks one server for each tool, and stops it."""
    server = Server(root, scratch)
    for name, arguments in TOOLS.items():
        answer = server.tool(name, {**arguments, "path": str(root)})
        yield answer
        if answer.code not in {0, 2}:
            # It hangs, or is gone: start a new one for the next tools.
            server.close()
            server = Server(root, scratch)
    code = server.close()
    yield Asked("the end of the server", code, 0, "", "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--no-tools", action="store_true")
    args = parser.parse_args()
    if args.home:
        os.environ["CODELENS_HOME"] = str(args.home)
    with tempfile.TemporaryDirectory(prefix="asked-") as scratch:
        for answer in commands_asked(args.root.absolute(), Path(scratch)):
            print(json.dumps(answer), flush=True)
        if not args.no_tools:
            for answer in tools_asked(args.root.absolute(), Path(scratch)):
                print(json.dumps(answer), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
