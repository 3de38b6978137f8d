"""Our `dataclass` gives what that of the standard library gives."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys

import pytest

from codelens.light_library import light_dataclasses

SETTINGS = [
    {}, {"frozen": True}, {"slots": True}, {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False, "repr": False}, {"eq": False}, {"repr": False},
]  # fmt: skip
MADE: dict[str, type] = {}


def defined(module, settings: dict) -> type:
    """A class with all that ours may have."""

    @module.dataclass(**settings)
    class Kept:
        """What it is."""

        name: str
        at: int = 3
        rows: list[int] = module.field(default_factory=list)
        last: tuple = module.field(default=())

        def __post_init__(self) -> None:
            if self.at < 0:
                raise ValueError("below nothing")

        @property
        def next(self) -> int:
            """A property."""
            return self.at + 1

    # By its name, so that it can be pickled.
    Kept.__qualname__ = f"Kept{len(MADE)}"
    Kept.__module__ = __name__
    globals()[Kept.__qualname__] = MADE[Kept.__qualname__] = Kept
    return Kept


CALLS = [
    (("a",), {}), (("a", 1), {}), (("a",), {"rows": [1]}), ((), {"name": "a", "last": (2,)}),
    (("a", 1, [2], (3,)), {}), (("a",), {"at": 9}),
]  # fmt: skip
REFUSED = [((), {}), (("a", 1, [], (), 5), {}), (("a",), {"name": "b"}), (("a",), {"x": 1})]


def outcome(action, *values, **named):
    """What an action gives, or how it fails."""
    try:
        return action(*values, **named)
    except (TypeError, ValueError, AttributeError) as error:
        return type(error)


def hashed(value) -> bool:
    return isinstance(hash(light_dataclasses.replace(value, rows=())), int)


ACTIONS = [
    lambda value: setattr(value, "at", 1),
    lambda value: delattr(value, "at"),
    hashed,
    lambda value: light_dataclasses.replace(value, at=-1),
    lambda value: light_dataclasses.replace(value, other=1),
    dataclasses.asdict,
    lambda value: value.next,
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_class_does_what_one_of_the_standard_library_does(settings: dict) -> None:
    theirs = defined(dataclasses, settings)
    ours = defined(light_dataclasses, settings)
    assert ours.__doc__ == theirs.__doc__ and ours.__match_args__ == theirs.__match_args__
    assert hasattr(ours("a"), "__dict__") == hasattr(theirs("a"), "__dict__")
    # After some rounds what makes the values is compiled.
    for _ in range(3):
        for values, named in CALLS:
            their, our = theirs(*values, **named), ours(*values, **named)
            if settings.get("repr", True):
                assert repr(our).partition("(")[2] == repr(their).partition("(")[2]
                assert repr(our).startswith(ours.__qualname__)
            assert (ours(*values, **named) == our) == settings.get("eq", True)
            assert our not in (their, dataclasses.astuple(our))
            for replace in (dataclasses.replace, light_dataclasses.replace):
                changed = replace(our, at=7)
                assert type(changed) is ours and (changed.name, changed.at) == ("a", 7)
            assert light_dataclasses.replace(their, at=7).at == 7
            for copied in (copy.copy(our), pickle.loads(pickle.dumps(our))):
                assert type(copied) is ours
                assert dataclasses.asdict(copied) == dataclasses.asdict(their)
            for action in ACTIONS:
                assert outcome(action, their) == outcome(action, our)
        for values, named in REFUSED:
            refused = outcome(ours, *values, **named)
            assert outcome(theirs, *values, **named) is refused is TypeError


def test_a_default_that_is_made_is_made_for_each() -> None:
    kind = defined(light_dataclasses, {"slots": True})
    for _ in range(12):
        assert kind("a").rows == [] and kind("a").rows is not kind("a").rows


def test_equal_values_have_one_hash() -> None:
    @light_dataclasses.dataclass(frozen=True, slots=True)
    class Pair:
        left: int
        right: int = 2

    assert {Pair(1), Pair(1, 2), Pair(2)} == {Pair(2), Pair(1)}
    assert dataclasses.is_dataclass(Pair)
    assert [one.name for one in dataclasses.fields(Pair)] == ["left", "right"]
    assert [one.default for one in dataclasses.fields(Pair)] == [dataclasses.MISSING, 2]


def test_what_ours_is_not_made_for_is_refused() -> None:
    with pytest.raises(TypeError, match="no bases"):

        @light_dataclasses.dataclass
        class _Derived(Exception):
            name: str

    with pytest.raises(TypeError, match="without a default"):

        @light_dataclasses.dataclass
        class _Mixed:
            name: str = ""
            at: int  # type: ignore[misc]

    with pytest.raises(TypeError, match="default_factory"):

        @light_dataclasses.dataclass
        class _Shared:
            rows: list[int] = []  # noqa: RUF012

    with pytest.raises(TypeError):
        light_dataclasses.dataclass(order=True)  # type: ignore[call-overload]


def test_nothing_is_imported_for_it() -> None:
    code = (
        "from __future__ import annotations\nimport sys\n"
        "from codelens.light_library.light_dataclasses import dataclass, replace\n"
        "@dataclass(frozen=True, slots=True)\nclass Pair:\n left: int\n right: int = 2\n"
        "assert replace(Pair(1), left=3) == Pair(3)\n"
        "assert not {'dataclasses', 'inspect', 'typing'} & sys.modules.keys()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
