"""A machine in a scratch folder, and the ways to install and uninstall on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from codelens.hosts.desired_edits import Request
from codelens.hosts.host_descriptor import Machine, hosts
from codelens.hosts.host_wiring import install, plan_install, plan_uninstall, uninstall
from codelens.hosts.install_ledger import Change, Ledger

COMMAND = "/opt/me/bin/codelens"


class Scratch:
    """One user's home; each call is one run of the command."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.home = folder / "home"
        self.home.mkdir(exist_ok=True)
        self.kept = folder / "kept"
        self.machine = Machine("linux", self.home, environ)

    def request(self, root: Path | None = None, command: str = COMMAND, **more: Any) -> Request:
        scope = "user" if root is None else "project"
        return Request(self.machine, scope, root, command, **more)

    def install(self, *names: str, root: Path | None = None, **more: Any) -> list[Change]:
        request = self.request(root, **more)
        ledger = Ledger(self.kept)
        chosen = [hosts()[name] for name in names]
        plan = plan_install(chosen, request, ledger)
        return [install(one, ledger, request.label) for one in plan]

    def uninstall(self, *names: str, root: Path | None = None) -> list[Change]:
        request = self.request(root)
        ledger = Ledger(self.kept)
        chosen = [hosts()[name] for name in names]
        return [uninstall(one, ledger) for one in plan_uninstall(chosen, request, ledger)]

    def config(self, name: str, root: Path | None = None) -> Path:
        """The file of a host's MCP entry."""
        scope = "user" if root is None else "project"
        found = hosts()[name].server.where.pick(self.machine, scope, root)
        assert found is not None
        return Path(found)

    def everything(self) -> dict[str, bytes | None]:
        """All folders and files of the home, with the files' contents."""
        return {
            str(one.relative_to(self.home)): one.read_bytes() if one.is_file() else None
            for one in sorted(self.home.rglob("*"))
        }


def problems(changes: list[Change]) -> list[str]:
    return [why for change in changes for _, why in change.problems]
