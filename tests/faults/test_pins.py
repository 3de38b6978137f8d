"""Pins of an index of an earlier version, which kept them in the index."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from faults.world import World

from codelens.store.database.database_opening import open_index
from codelens.store.saved.pins import pins_file_for


def test_the_pins_in_an_older_index_do_not_replace_the_copy_of_a_lost_file(tmp_path: Path) -> None:
    world = World(tmp_path, files=4)
    for branch in ("earlier", "later"):
        world.repo.git("branch", branch)
    with world.engine() as engine:
        engine.pin("earlier", path=world.root, pinned=True)
    with closing(open_index(world.index)) as db, db.write(None):
        db.execute("UPDATE views SET pinned = 1 WHERE id = (SELECT MAX(id) FROM views)")
        assert db.row("SELECT COUNT(*) FROM views WHERE pinned = 1") == (1,)
    world.repo.write("new.py", "def new(): pass\n")
    world.repo.commit("later")
    world.repo.git("branch", "-f", "later")
    with world.engine() as engine:
        engine.pin("later", path=world.root, pinned=True)
    pins_file_for(world.index).unlink()
    with world.engine() as engine:
        (life,) = engine.overview()
    assert len([view for view in life.views if view.pinned]) == 2
