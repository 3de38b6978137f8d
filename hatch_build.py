"""Generates the man page from the command line's parser and adds it to the wheel."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from argparse_manpage.manpage import Manpage
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME = "search the code of the branch and worktree you are in"


def man_page(version: str) -> str:
    """The page in man(7) format; the parser only needs the standard library."""
    from codelens.cli.argument_parser import grammar

    about = {
        "project_name": "codelens", "version": version, "description": NAME,
        "manual_title": "User Commands",
    }  # fmt: skip
    parser, commands = grammar()
    for command in commands.values():
        command.color = False  # type: ignore[attr-defined] - Python 3.14 would style usage lines
    return str(Manpage(parser, about, format="single-commands-section"))


class ManPage(BuildHookInterface[Any]):
    """The build hook for hatchling."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the page and add it to the wheel's files; an editable install has none."""
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
        """Delete the temporary file, which the wheel now contains."""
        if version != "editable":
            self._folder.cleanup()
