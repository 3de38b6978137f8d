"""A repository with a history, and both faces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.faces import CommandLine, HurriedMcpClient, McpClient
from gitrepo import GitRepo

AUTH = '''"""Who may come in."""


class Session:
    """One visitor."""

    def validate_session(self, token):
        """Tell whether the token still holds."""
        return token.alive


def revoke_session(session):
    session.token = None
'''


@pytest.fixture(
    params=[CommandLine, McpClient, HurriedMcpClient], ids=["cli", "mcp", "mcp in 50 ms"]
)
def face(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CommandLine | McpClient]:
    found = request.param(tmp_path / "home")
    yield found
    found.close()


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit(
        "one",
        {
            "src/auth.py": AUTH,
            "src/billing.js": "export function chargeCard(card) { return card.limit; }\n",
            "src/queue.go": "package queue\n\n// DrainQueue empties it.\nfunc DrainQueue() {}\n",
            "README.md": "# Shop\n\nSells lanterns.\n",
            ".gitignore": "*.log\nbuild/\n",
        },
    )
    return made
