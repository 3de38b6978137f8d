"""Prints what `codelens.hosts.host_checks` finds: for `install --check` and `doctor`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from codelens.cli import screen

if TYPE_CHECKING:
    from codelens.hosts.desired_edits import Request
    from codelens.hosts.host_descriptor import Host


def check(chosen: Sequence[Host], request: Request, *, as_json: bool) -> int:
    """Check these hosts; 0 if all that is wired works, 1 if nothing is wired, else 2."""
    from codelens.hosts.host_checks import check_hosts
    from codelens.render import reading_json as shape

    found = check_hosts(chosen, request, ask_hosts=True)
    if as_json:
        screen.put_json(shape.results([one._asdict() for one in found]))
    else:
        width = max(len(one.host) for one in found)
        for one in found:
            style = {"fine": "dim", "absent": "dim"}.get(one.state, "warn")
            screen.field(f"{one.host:<{width}}  {one.state:<7}", screen_line(one.said), style)
    states = {one.state for one in found}
    if "broken" in states:
        return 2
    return 1 if states == {"absent"} else 0


def screen_line(text: str) -> str:
    """`text` in one line, without what a terminal would obey."""
    from codelens.render.text_pieces import one_line

    return one_line(text)
