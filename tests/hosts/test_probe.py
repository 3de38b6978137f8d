"""A check of an entry ends, and ends every process that it started."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from codelens.hosts.host_checks import probe


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell script")
def test_a_wrapper_that_leaves_a_child_with_its_pipes_is_ended_with_the_child(
    tmp_path: Path,
) -> None:
    pid_file = tmp_path / "pid"
    wrapper = tmp_path / "codelens"
    wrapper.write_text(f"#!/bin/sh\nsleep 3000 &\necho $! >{pid_file}\nexec sleep 3000\n")
    wrapper.chmod(0o755)
    for timeout_s in (0.5, 5.0, 50.0):
        said = probe([str(wrapper), "serve"], {}, timeout_s=timeout_s)
        assert "did not answer initialize in time" in said.why
        if pid_file.exists() and pid_file.read_text().strip():
            break  # else a busy machine did not run the script in time
    child = int(pid_file.read_text())
    for _ in range(1200):
        if not _lives(child):
            break
        time.sleep(0.1)
    assert not _lives(child)


def _lives(number: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{number}/stat")
    return not (stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] == "Z")
