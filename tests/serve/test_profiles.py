"""Which tools a server lists."""

from __future__ import annotations

import pytest

from codelens.errors import SettingError
from codelens.serve.first_turn import ALL, CORE, chosen
from codelens.serve.tool_table import ROWS


def test_the_core_is_listed_where_nothing_is_said() -> None:
    assert chosen("") == chosen(" , ") == chosen("core") == CORE


def test_all_also_lists_tools_that_write() -> None:
    assert chosen("all") == ALL
    assert {"cl_save", "cl_prune"} <= set(ALL) - set(CORE)


@pytest.mark.parametrize("profile", sorted({row.profile for row in ROWS.values()}))
def test_every_profile_of_the_table_can_be_chosen(profile: str) -> None:
    assert chosen(profile) == tuple(name for name in ALL if ROWS[name].profile == profile)


def test_names_are_listed_in_one_order_and_once() -> None:
    assert chosen("cl_save, cl_search,cl_save") == ("cl_search", "cl_save")
    assert chosen("cl_load,core") == (*CORE, "cl_load")


def test_a_wrong_name_is_refused_with_those_there_are() -> None:
    choices = "core, branches, contexts, upkeep, all, cl_search"
    with pytest.raises(SettingError, match=f"'cl_sve'; the choices are {choices}"):
        chosen("core,cl_sve")
