"""What happens to one file, and making it happen while other programs write the file too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codelens.hosts import host_files
from codelens.hosts.desired_edits import Wish
from codelens.hosts.formats.entry_edits import Entry, Whole
from codelens.hosts.host_errors import Overtaken

_TRIES = 20
"""How often a file is edited anew that another program writes meanwhile."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one file.

    Attributes:
        path: the real file.
        wishes: the edits by host; of an uninstall, those that leave.
        before: its bytes; None if there is none.
        after: what it will hold; None if it goes.
        problems: what could not be done, by host.
        remarks: what is worth knowing all the same.
        removes: whether this is an uninstall.
    """

    path: Path
    wishes: tuple[Wish, ...]
    before: bytes | None
    after: bytes | None
    problems: tuple[tuple[str, str], ...] = ()
    remarks: tuple[str, ...] = ()
    removes: bool = False

    @property
    def is_change(self) -> bool:
        """Whether the file will differ."""
        return self.before != self.after

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts it is for."""
        return tuple(dict.fromkeys(wish.host for wish in self.wishes))

    @property
    def done(self) -> list[Wish]:
        """What is wanted by the hosts that met no problem."""
        failed = {host for host, _ in self.problems}
        return [wish for wish in self.wishes if wish.host not in failed]

    @property
    def is_private(self) -> bool:
        """Whether it will hold a token, so that nobody but its owner should read the file."""
        edits = (wish.edit for wish in self.wishes)
        return any(isinstance(edit, Entry) and edit.is_over_http for edit in edits)

    @property
    def is_ours(self) -> bool:
        """Whether the file is codelens' own as a whole."""
        return all(isinstance(wish.edit, Whole) for wish in self.wishes)


def by_file(wishes: Iterable[Wish]) -> dict[Path, list[Wish]]:
    """The edits that each file is wanted to have."""
    wishes_by_file: dict[Path, list[Wish]] = {}
    for wish in wishes:
        wishes_by_file.setdefault(wish.path, []).append(wish)
    return wishes_by_file


def untouched(path: Path, wishes: Sequence[Wish], data: bytes | None, why: str) -> Change:
    """A file that is left as it is, for all hosts that wanted something of it."""
    hosts = dict.fromkeys(wish.host for wish in wishes)
    return Change(path, tuple(wishes), data, data, tuple((host, why) for host in hosts))


def landed(change: Change, again: Callable[[], Change]) -> Change:
    """Write a change, planned `again` as often as another program was faster; what was written.

    Raises:
        Overtaken: it was faster each time.
        NotWritten: it failed.
    """
    host_files.sweep(change.path)
    for _ in range(_TRIES):
        if not change.is_change:
            return change
        try:
            if change.after is None:
                host_files.remove(change.path, holding=change.before)
            else:
                host_files.write(
                    change.path, change.after, onto=change.before, private=change.is_private
                )
        except Overtaken:
            change = again()
        else:
            return change
    raise Overtaken(change.path)
