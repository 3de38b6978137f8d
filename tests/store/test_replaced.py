"""A process with a replaced index still open does not touch the log of the new one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from codelens.store.database import database_recovery
from codelens.store.database.database import Database
from codelens.store.database.database_opening import open_index

_OTHER = """
import sys
from pathlib import Path
from codelens.store.database.database_opening import open_index
db = open_index(Path(sys.argv[1]))
with db.write(None):
    db.execute("UPDATE views SET head = head")
print("open", flush=True)
for line in sys.stdin:
    print(eval(line), flush=True)
"""


class Other:
    """Another process with the index open, in the middle of its work."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _OTHER, str(path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._line() == "open"

    def _line(self) -> str:
        out: IO[str] | None = self.process.stdout
        assert out is not None
        return out.readline().strip()

    def does(self, expression: str) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{expression}\n")
        self.process.stdin.flush()
        return self._line()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


def _files(path: Path) -> dict[str, int]:
    return {one.name: one.stat().st_ino for one in path.parent.glob(f"{path.name}*")}


def _with_a_commit(path: Path) -> Database:
    db = open_index(path)
    with db.write(None):
        db.execute("CREATE TABLE kept (one)")
        db.execute("INSERT INTO kept VALUES (1)")
    assert path.with_name(path.name + "-wal").stat().st_size > 0
    return db


@pytest.mark.skipif(os.name == "nt", reason="Windows renames no file that is open")
@pytest.mark.parametrize("done", ["db.alone()", "db.close()"])
def test_a_holder_of_the_old_file_leaves_the_new_log_alone(tmp_path: Path, done: str) -> None:
    path = tmp_path / "index.db"
    open_index(path).close()
    other = Other(path)
    try:
        assert database_recovery.set_aside(path, database_recovery.identity_of(path)) is not None
        db = _with_a_commit(path)
        before = _files(path)
        said = other.does(done)
        assert said == {"db.alone()": "False", "db.close()": "None"}[done]
        assert _files(path) == before
        # A new reader sees what was committed, and so does one that joins after a kill.
        joined = open_index(path)
        assert joined.rows("SELECT one FROM kept") == [(1,)]
        joined.close()
        assert db.rows("SELECT one FROM kept") == [(1,)]
        assert db.is_sound()
        db.close()
    finally:
        other.end()
