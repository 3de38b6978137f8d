"""What git's config says of a repository: by our own reader where it is plain, else by libgit2."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from codelens.scope.plain.plain_config import NotPlain, PlainConfig, read_config

if TYPE_CHECKING:
    import pygit2


def config_files(git_dir: str, common_dir: str) -> list[str]:
    """Files that git's config of a worktree may stand in; a later one counts more."""
    home = str(Path.home())
    xdg = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    named = os.environ.get("GIT_CONFIG_GLOBAL")
    personal = [named] if named else [os.path.join(xdg, "git", "config"), f"{home}/.gitconfig"]
    system = [] if os.environ.get("GIT_CONFIG_NOSYSTEM") else ["/etc/gitconfig"]
    own = [os.path.join(common_dir, "config"), os.path.join(git_dir, "config.worktree")]
    return [*system, *personal, *own]


class GitSettings:
    """The settings of one repository.

    Args:
        files: those of `config_files`.
        git: opens the repository with libgit2.
        plain: whether our own reader may be asked first.
    """

    def __init__(
        self, files: list[str], git: Callable[[], pygit2.Repository], *, plain: bool
    ) -> None:
        self._files = files
        self._git = git
        self._may_be_plain = plain

    def text(self, name: str) -> str | None:
        """A setting as it is written; None where it is not set."""
        if self._plain is not None:
            with contextlib.suppress(NotPlain):
                return self._plain.text(name)
        try:
            return self._config[name]
        except KeyError:
            return None

    def path(self, name: str) -> str | None:
        """The same with the home folder in place of `~`."""
        value = self.text(name)
        return os.path.expanduser(value) if value else value

    def truth(self, name: str, *, usual: bool = False) -> bool:
        """A truth value; `usual` where it is not set, or is none."""
        if self._plain is not None:
            with contextlib.suppress(NotPlain):
                is_set = self._plain.truth(name)
                return usual if is_set is None else is_set
        try:
            return self._config.get_bool(name)
        except (KeyError, ValueError):
            return usual

    @cached_property
    def _plain(self) -> PlainConfig | None:
        if self._may_be_plain:
            with contextlib.suppress(NotPlain):
                return read_config(self._files)
        return None

    @cached_property
    def _config(self) -> pygit2.Config:
        """As libgit2 has it; git's variables that move a config mean nothing to libgit2."""
        import pygit2

        if not {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"} & os.environ.keys():
            return self._git().config
        config = pygit2.Config()
        for level, file in enumerate(self._files, 1):
            if os.path.isfile(file):
                config.add_file(file, level)  # pyright: ignore[reportUnknownMemberType]
        return config
