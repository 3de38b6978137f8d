"""Keys in memory: lookups find the same keys as a check of each key."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from codelens.rank.query.near_matches import distance
from codelens.store.facts.vocabulary import KeyLines

LETTERS = "abé0"
"""Few letters, so that near words and swaps are common; UTF-8 encodes one of them in two bytes."""
KEYS = st.lists(st.text(LETTERS, min_size=1, max_size=12), max_size=60)


@st.composite
def near_words(draw: st.DrawFn) -> tuple[str, list[str], int]:
    """A word, and keys that start with a near variant of it."""
    most = draw(st.sampled_from([1, 2]))
    word = draw(st.text(LETTERS, min_size=2 * most + 1, max_size=16))
    keys = draw(KEYS)
    for _ in range(draw(st.integers(0, 30))):
        key = list(word)
        for _ in range(draw(st.integers(1, 3))):
            at = draw(st.integers(0, len(key) - 1))
            edit = draw(st.integers(0, 3))
            if edit == 0:
                key.insert(at, draw(st.sampled_from(LETTERS)))
            elif edit == 1:
                key[at] = draw(st.sampled_from(LETTERS))
            elif edit == 2 and len(key) > 1:
                del key[at]
            elif at + 1 < len(key):
                key[at], key[at + 1] = key[at + 1], key[at]
        keys.append("".join(key))
    return word, keys, most


def kept(first: list[str], since: list[str]) -> KeyLines:
    """Keys, some of which were there at first and some added in two steps."""
    keys = KeyLines("\n".join(sorted(set(first), key=str.encode)), [], 1)
    keys.add("\n".join(since[::2]), [], 2)
    keys.add("\n".join(since[1::2]), [], 3)
    return keys


@settings(max_examples=400, deadline=None)
@given(near_words(), st.data())
def test_all_keys_of_so_many_edits_are_found(
    drawn: tuple[str, list[str], int], data: st.DataObject
) -> None:
    word, keys, most = drawn
    split = data.draw(st.integers(0, len(keys)))
    keys_in_memory = kept(keys[:split], keys[split:])
    for start in (word[0], word[1] + word[0]):
        found = keys_in_memory.nearly(start, word, most)
        assert len(found) == len(set(found))
        assert set(found) <= {key for key in keys if key.startswith(start)}
        expected = {
            key for key in keys if key.startswith(start) and distance(word, key, most) <= most
        }
        assert expected <= set(found)


@settings(max_examples=100, deadline=None)
@given(KEYS, KEYS, st.text(LETTERS, min_size=1, max_size=3))
def test_all_keys_with_some_letters_are_found(
    first: list[str], since: list[str], part: str
) -> None:
    found = kept(first, since).holding(part)
    assert sorted(found) == sorted({key for key in [*first, *since] if part in key})


def test_keys_of_several_lines_are_found_too() -> None:
    keys_in_memory = KeyLines("abcd", ["abc\nd"], 1)
    assert set(keys_in_memory.nearly("a", "abcde", 1)) == {"abcd", "abc\nd"}
    assert keys_in_memory.holding("c\nd") == ["abc\nd"]
