"""What was saved of a repository before it moved: found by the commit that its history begins with.

A repository's contexts lie under the path of its git folder. What was saved at a path that is gone
is offered where the same history is now, and taken over only when asked: a clone is another
repository, as long as the first one is still there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from codelens.store.saved.contexts_file import Glance, glance


def former(own: Path, root: str) -> list[Glance]:
    """Contexts of places that are gone and whose history begins with `root`, newest first.

    Without those that were taken over since: what was forgotten there does not come back.
    """
    if not root:
        return []
    every = list(_all(own))
    features = [
        features
        for features in every
        if features.path != own
        and features.size
        and root in features.roots
        and not os.path.exists(features.common_dir)
        and not any(
            root in other.roots and other.adopted.get(features.path.name, -1) >= features.newest_s
            for other in every
            if other.path == own or not os.path.exists(other.common_dir)
        )
    ]
    return sorted(
        features, key=lambda features: (-features.newest_s, -features.size, features.common_dir)
    )


def waiting(own: Path, names: str) -> list[Glance]:
    """Of files that were found to be of a former place, those that still are."""
    features = (
        glance(own.with_name(name)) for name in names.split() if own.with_name(name).exists()
    )
    return [
        header
        for header in features
        if header and header.size and not os.path.exists(header.common_dir)
    ]


def of_place(own: Path, place: str) -> list[Glance]:
    """Contexts of a repository or folder that is, or was, at `place`; or of a contexts file."""
    here = os.path.abspath(os.path.expanduser(place))
    if os.path.isfile(here):
        seen = glance(Path(here))
        return [seen] if seen else []
    named = {here, os.path.realpath(here)}
    named |= {os.path.join(root, ".git") for root in named}
    return [other for other in _others(own) if other.common_dir in named]


def _others(own: Path) -> Iterator[Glance]:
    return (features for features in _all(own) if features.path != own and features.size)


def _all(own: Path) -> Iterator[Glance]:
    for path in sorted(own.parent.glob("contexts-*.db")):
        features = glance(path)
        if features is not None:
            yield features
