"""A small repository with a session in it, shared by several tests."""

from __future__ import annotations

AUTH = '''\
class Session:
    """A session."""

    def validate(self, token):
        """Tell whether the token holds."""
        return bool(token)


def login(name):
    return Session()
'''
FILES = {"src/auth.py": AUTH, "README.md": "# Top\n\nLanterns.\n"}
