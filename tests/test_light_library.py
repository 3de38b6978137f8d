"""What hooks have in place of `typing`, `json` and `hashlib` gives what those give."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
import subprocess
import sys
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelens import light_library
from codelens.light_library import dumps, loads, sha256_hex

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


class Plain(typing.NamedTuple):
    """As it is without ours."""

    name: str
    at: int = 3
    rows: tuple[int, ...] = ()


class Light(light_library.NamedTuple):
    """The same."""

    name: str
    """A field."""
    at: int = 3
    rows: tuple[int, ...] = ()

    @property
    def next(self) -> int:
        """A property."""
        return self.at + 1


@given(VALUES, st.sampled_from([(", ", ": "), (",", ":")]), st.booleans())
def test_values_are_written_and_read_as_json_does(value, separators, ascii_only: bool) -> None:
    text = json.dumps(value, separators=separators, ensure_ascii=ascii_only)
    assert dumps(value, separators=separators, ensure_ascii=ascii_only) == text
    assert loads(f" \n{text}\t") == value
    assert loads(text.encode("utf-8", "surrogatepass")) == json.loads(text)


TEXTS = [
    "", "{", "[1,", '{"a" 1}', "nul", "[1]x", '"a\nb"', "\ufeff1", b"\xff", b"\x00\xff", b'"\xff"',
    "NaN", "-Infinity", "1e999", '"\\ud800"', '{"a": 1, "a": 2}', b"[1]\0", " ", "\x0b1", "1 2",
    "1".encode("utf-16"), "{}".encode("utf-8-sig"), "[" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_text_is_read_or_refused_as_json_does(text: str | bytes) -> None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        with pytest.raises((ValueError, RecursionError)) as refused:
            loads(text)
        assert refused.type is type(error)
    else:
        assert repr(loads(text)) == repr(value)


@given(st.binary() | st.text())
def test_any_text_is_read_or_refused_as_json_does(text: str | bytes) -> None:
    test_a_text_is_read_or_refused_as_json_does(text)


def test_what_is_no_json_is_not_written() -> None:
    with pytest.raises(TypeError):
        dumps({"a": object()})
    with pytest.raises(ValueError):
        circular: list[object] = []
        circular.append(circular)
        dumps(circular)


def test_a_record_is_a_tuple_with_names() -> None:
    """From the second round on what makes the records is compiled."""
    for round_number in range(3):
        assert _is_compiled(Light) == (round_number > 0)
        for make in (lambda kind: kind("a"), lambda kind: kind("a", rows=(1,)),
                     lambda kind: kind(name="a", at=0), lambda kind: kind("a", 1, (2,)),
                     lambda kind: kind._make(("a", 1, (2,)))):  # fmt: skip
            _assert_alike(make(Plain), make(Light))


def _is_compiled(kind: type) -> bool:
    return isinstance(vars(kind).get("__new__"), staticmethod)


def _assert_alike(plain: Plain, light: Light) -> None:
    assert (light.name, light.at, light.rows) == plain == tuple(light)
    assert light == plain and hash(light) == hash(plain)
    assert repr(light) == repr(plain).replace("Plain", "Light")
    assert light._asdict() == plain._asdict() and Light._fields == Plain._fields
    assert light._replace(at=9) == plain._replace(at=9)
    assert type(light._replace(at=9)) is Light and light.next == light.at + 1
    for copied in (copy.copy(light), pickle.loads(pickle.dumps(light))):
        assert copied == light and type(copied) is Light


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), (("a", 1, (), 4), {}), (("a",), {"name": "b"}), (("a",), {"x": 1})],
)  # fmt: skip
def test_a_record_is_refused_as_a_tuple_with_names_is(values: tuple, named: dict) -> None:
    for kind in (Plain, Light):
        with pytest.raises(TypeError):
            kind(*values, **named)
    with pytest.raises((TypeError, ValueError)):
        Light("a")._replace(x=1)
    with pytest.raises(AttributeError):
        Light("a").at = 4  # type: ignore[misc]


def test_a_record_may_have_no_field_or_be_derived() -> None:
    class Nothing(light_library.NamedTuple):
        """What stands for itself."""

    class Own(Light):
        """With more to do."""

    for _ in range(12):
        assert Nothing() == () and hash(Nothing()) == hash(()) and repr(Nothing()) == "Nothing()"
        assert Own("a", 1) == Light("a", 1) and Own("a", 1).next == 2
        assert type(Own("a")) is Own and type(Own("a")._replace(at=2)) is Own
    with pytest.raises(TypeError):
        Nothing(1)  # type: ignore[call-arg]


@given(st.binary())
def test_a_digest_is_that_of_hashlib(data: bytes) -> None:
    assert sha256_hex(data) == hashlib.sha256(data).hexdigest()


_WITHOUT = """
import sys
for name in ("_json", "_sha2", "_sha256", "_collections"):
    sys.modules[name] = None
from codelens.light_library import NamedTuple, dumps, loads, sha256_hex
class Pair(NamedTuple):
    left: int
    right: int = 2
assert Pair(1).right == 2 and loads(dumps([Pair(1), "é"])) == [[1, 2], "é"]
assert sha256_hex(b"")[:8] == "e3b0c442"
"""


def test_a_python_without_the_functions_in_c_gives_the_same() -> None:
    code = "from __future__ import annotations\n" + _WITHOUT
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
