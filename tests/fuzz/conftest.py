"""A repository surrounded by data that no answer may show."""

from __future__ import annotations

import os
from collections.abc import Iterator

import hang_alarm
import pytest
from fuzz.inputs import SECRET
from gitrepo import GitRepo

HANG_S = 60

AUTH = '''\
class Session:
    """A session."""

    def validate(self, token):
        """Tell whether the token holds."""
        if not token:
            raise TypeError("bad token")
        return bool(token)


def login(name):
    return Session().validate(name)


def login(name, again):
    return login(name)
'''


@pytest.fixture(scope="session")
def repo(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    scratch = tmp_path_factory.mktemp("fuzz")
    (scratch / "secret.py").write_text(f"token = '{SECRET}'\n")
    (scratch / "outside").mkdir()
    (scratch / "outside" / "secret.py").write_text(f"token = '{SECRET}'\n")
    made = GitRepo.init(scratch / "repo")
    made.write_all({"src/auth.py": AUTH, "README.md": "# Top\n\nToken of a session.\n"})
    made.write_all(
        {f"src/part{n}.py": f"def part_{n}(token):\n    return {n}\n" for n in range(20)}
    )
    os.symlink("../secret.py", made.path("link.py"))
    os.symlink("../outside", made.path("out"))
    os.symlink("loop", made.path("loop"))
    os.symlink(".", made.path("here"))
    made.commit("one")
    made.git("tag", "v1")
    made.commit("two", {"src/more.py": "from src.auth import login\n\nlogin('x', 1)\n"})
    made.config("user.token", SECRET)
    return made


@pytest.fixture(autouse=True)
def hang_guard() -> Iterator[None]:
    """Not an assertion on time: a hang must end the run; each input resets the alarm."""
    with hang_alarm.guarded():
        yield
