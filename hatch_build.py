"""Puts the man page into the wheel, made of the command line's own grammar."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from argparse_manpage.manpage import Manpage
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME = "search the code of the branch and worktree you are in"


def man_page(version: str) -> str:
    """The page in the form of man(7); the grammar needs the standard library alone."""
    from codelens.cli.argument_parser import grammar

    about = {
        "project_name": "codelens", "version": version, "description": NAME,
        "manual_title": "User Commands",
    }  # fmt: skip
    parser, commands = grammar()
    for one in commands.values():
        one.color = False  # type: ignore[attr-defined] - Python 3.14 would style the usage lines
    return str(Manpage(parser, about, format="single-commands-section"))


class ManPage(BuildHookInterface[Any]):
    """A hook of hatchling."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the page, and say where it belongs; an editable install has none."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        try:
            text = man_page(self.metadata.version)
        finally:
            sys.path.remove(self.root)
        self._folder = tempfile.TemporaryDirectory()
        page = Path(self._folder.name) / "codelens.1"
        page.write_text(text, encoding="utf-8")
        build_data["shared_data"][str(page)] = "share/man/man1/codelens.1"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Take the file away that the wheel holds now."""
        if version != "editable":
            self._folder.cleanup()
