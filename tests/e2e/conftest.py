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
    scope="session",
    params=[CommandLine, McpClient, HurriedMcpClient],
    ids=["cli", "mcp", "mcp in 50 ms"],
)
def face(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CommandLine | McpClient]:
    """Serves the repositories of all tests, as one home and one server do for a user."""
    made = request.param(tmp_path_factory.mktemp("faces") / "home")
    yield made
    made.close()


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
