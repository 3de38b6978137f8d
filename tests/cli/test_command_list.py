"""Checks the list of commands against their modules, their examples and the documentation."""

from __future__ import annotations

import argparse
import re
from importlib import import_module
from pathlib import Path

import pytest

from codelens.cli.command_examples import COMMANDS, EXAMPLES, MODULES

ROOT = Path(__file__).resolve().parents[2]
FOR_AGENTS = {"hook"}
"""Commands that nobody types."""


def test_every_module_of_a_command_is_listed() -> None:
    files = (ROOT / "codelens" / "cli" / "commands").glob("*_command*.py")
    assert {file.stem for file in files} == set(MODULES.values())


def test_every_command_has_examples_in_its_help() -> None:
    assert EXAMPLES.keys() == set(COMMANDS) - FOR_AGENTS


def test_every_command_is_in_the_documentation() -> None:
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    table = re.findall(r"^\|.+\|$", page, re.MULTILINE)
    named = set(re.findall(r"\w+", " ".join([*headings, *table])))
    assert set(COMMANDS) - FOR_AGENTS <= named


@pytest.mark.parametrize("option", ["--ref", "--budget", "--limit"])
def test_the_table_of_shared_options_names_the_commands_that_have_them(option: str) -> None:
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    row = re.search(rf"^\| `{option} \w+` \| ([^|]+)", page, re.MULTILINE)
    assert row is not None
    parsers = argparse.ArgumentParser().add_subparsers()
    for name in COMMANDS:
        module = import_module(f"codelens.cli.commands.{MODULES[name]}")
        getattr(module, f"add_{name}")(parsers)
    having = {name for name, parser in parsers.choices.items() if option in parser.format_usage()}
    assert set(re.findall(r"`(\w+)`", row[1])) == having - FOR_AGENTS
