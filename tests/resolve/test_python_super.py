"""Python: `super` with an explicit class."""

from __future__ import annotations

from resolved_edges import edges_of

TEXT = """\
class Grand:
    def run(self): pass
    def walk(self): pass
class Base(Grand):
    def run(self): pass
class Part(Base):
    def own(self):
        super(Part, self).run()
    def skipped(self):
        super(Base, self).run()
    def plain(self):
        super().run()
    def nested(self):
        def inner(it):
            super(Part, it).run()
    def unknown(self):
        super(self.__class__, self).run()
def outside(thing):
    super(Base, thing).walk()
    super(Grand, thing).walk()
"""


def test_super_begins_above_the_class_that_it_names() -> None:
    assert edges_of({"a.py": TEXT}) == [
        "a.py:Part.own -> Base.run",
        "a.py:Part.skipped -> Grand.run",
        "a.py:Part.plain -> Base.run",
        "a.py:Part.nested.inner -> Base.run",
        "a.py:outside -> Grand.walk",
    ]


def test_a_class_of_another_file_is_followed() -> None:
    files = {
        "a.py": TEXT,
        "b.py": "from a import Base as B\n\n\ndef far(it):\n    super(B, it).run()\n",
    }
    assert "b.py:far -> a.py:Grand.run" in edges_of(files)
