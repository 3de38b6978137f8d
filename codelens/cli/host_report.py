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

    checks = check_hosts(chosen, request, ask_hosts=True)
    if as_json:
        # The keys since the first release: programs read them.
        rows = [
            {"host": row.host, "name": row.name, "state": row.state, "said": row.message}
            for row in checks
        ]
        screen.put_json(shape.results(rows))
    else:
        width = max(len(host_check.host) for host_check in checks)
        for host_check in checks:
            style = {"fine": "dim", "absent": "dim"}.get(host_check.state, "warn")
            screen.field(
                f"{host_check.host:<{width}}  {host_check.state:<7}",
                screen_line(host_check.message),
                style,
            )
    states = {host_check.state for host_check in checks}
    if "broken" in states:
        return 2
    return 1 if states == {"absent"} else 0


def screen_line(text: str) -> str:
    """`text` in one line, without what a terminal would obey."""
    from codelens.render.text_pieces import one_line

    return one_line(text)
