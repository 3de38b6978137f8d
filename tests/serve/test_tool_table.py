"""Checks the table of tools against the engine, renderers, documentation and installer."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path

import pytest

from codelens.engine.contexts import context_items
from codelens.engine.engine import Engine
from codelens.memory.context_fields import CATEGORIES
from codelens.serve import record_answers, tool_row
from codelens.serve.call_answers import renderer_named
from codelens.serve.tool_row import FOR_THE_CALL, FOR_THE_RENDERER, ToolRow
from codelens.serve.tool_table import ROWS, instructions

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "mcp.md").read_text("utf-8")


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_the_engine_takes_the_arguments_of_each_tool(row: ToolRow) -> None:
    ask = getattr(Engine, row.asks) if isinstance(row.asks, str) else row.asks
    given = {one.name: one.default for one in row.arguments}
    wanted = {
        one.parameter or one.name: None for one in row.arguments if one.name not in FOR_THE_CALL
    }
    wanted |= dict.fromkeys(["budget_ms"] if row.budgets else [])
    wanted |= dict.fromkeys(["progress"] if row.tells_progress else [])
    inspect.signature(ask).bind(None, **{**wanted, **row.asks_with(given)})


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_the_renderer_accepts_the_engines_answers(row: ToolRow) -> None:
    given = {one.name: one.default for one in row.arguments}
    shown = [given[name] for name in FOR_THE_RENDERER if name in given]
    inspect.signature(renderer_named(row.renderer)).bind(None, *shown, **row.renders_with(given))


def test_every_tool_is_documented_as_it_is() -> None:
    undocumented = [name for name in ROWS if f"| `{name}` |" not in PAGE]
    assert not undocumented, "add a row to docs/mcp.md, then run the command below"
    assert record_answers.documented(PAGE) == PAGE, "run python -m codelens.serve.record_answers"


def test_an_installer_approves_the_core_tools_alone() -> None:
    text = (ROOT / "install" / "tools.toml").read_text("utf-8")
    assert record_answers.approved() == text, "run python -m codelens.serve.record_answers"
    approved = tomllib.loads(text)["read_only"]
    assert approved == [row.name for row in ROWS.values() if row.profile == "core"]
    assert all(ROWS[name].hints == "reads" for name in approved)


def test_the_instructions_name_the_listed_tools_alone() -> None:
    advice = instructions(["cl_search", "cl_forget"])
    assert "cl_search finds places." in advice
    assert "cl_expand" not in advice and "cl_forget" not in advice


def test_an_argument_that_takes_strings_has_an_example_for_messages() -> None:
    lacking = {
        (row.name, one.name)
        for row in ROWS.values()
        for one in row.arguments
        if one.takes not in ("number", "truth") and not one.choices and not one.example
    }
    assert not lacking


def test_categories_are_those_of_saved_contexts() -> None:
    assert tuple(CATEGORIES) == tool_row.CATEGORIES


def test_states_are_those_of_saved_contexts() -> None:
    assert context_items.STATUSES == tool_row.STATUSES
