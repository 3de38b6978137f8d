"""A comparison without the untouched definitions reports the same as one with all of them."""

from __future__ import annotations

import random

import pytest

from codelens.branches.definition_diff import DefinitionDiff, definition_diff
from codelens.branches.file_definitions import FileText
from codelens.branches.untouched_definitions import untouched
from codelens.extract.facts import facts_of
from codelens.scope.text_diff import changed_lines


def text(path: bytes, data: bytes) -> FileText:
    return FileText(path, data, facts_of(data, "python").structure.symbols, "python", "text", data)


def generated(rng: random.Random, count: int) -> list[str]:
    """Blocks of code with their comments; some names repeat."""
    blocks = ["import os\nimport sys\n"]
    for number in range(count):
        comment = f"# about {number}\n" if rng.random() < 0.4 else ""
        body = "".join(f"    value{at} = {rng.randrange(99)}\n" for at in range(3))
        name = f"part{number % (count - 3)}"
        if rng.random() < 0.3:
            methods = f"    def open(self):\n    {body}\n    def shut(self, a):\n        return a\n"
            blocks.append(f"{comment}class Type{number}:\n    size = {number}\n\n{methods}")
        elif rng.random() < 0.2:
            blocks.append(f"{comment}LIMIT{number} = {number}\n")
        else:
            blocks.append(
                f"{comment}def {name}(one, two):\n{body}    return one + value{number % 3}\n"
            )
    return blocks


def edited(rng: random.Random, blocks: list[str]) -> list[str]:
    """The blocks after a few edits: of lines, of whole blocks, of their order."""
    blocks = list(blocks)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(1, len(blocks))
        match rng.randrange(6):
            case 0:
                del blocks[at]
            case 1:
                blocks.insert(at, "# new\ndef added(one):\n    return one * 7 + os.sep\n")
            case 2:
                blocks.insert(rng.randrange(1, len(blocks)), blocks.pop(at))
            case 3:
                blocks[at] = blocks[at].replace("value", "other", 1)
            case 4:
                blocks[at] = f"# more about it\n{blocks[at]}"
            case _:
                blocks[at] += "print(sys.path)\n"
    return blocks


def rows(diff: DefinitionDiff) -> list[object]:
    return [
        (
            file.how, file.outside,
            [
                (change.how, change.old and change.old.at, change.new and change.new.at,
                 *change[3:])
                for change in file.definitions
            ],
        )
        for file in diff.files
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_nothing_reported_depends_on_the_untouched_definitions(seed: int) -> None:
    rng = random.Random(seed)
    blocks, others = generated(rng, 30), generated(rng, 12)
    after, others_after = edited(rng, blocks), edited(rng, others)
    if seed % 3 == 0:
        others_after.append(after.pop(rng.randrange(1, len(after))))  # It moves to another file.
    old = [text(b"a.py", "\n".join(blocks).encode()), text(b"b.py", "\n".join(others).encode())]
    new = [
        text(b"a.py", "\n".join(after).encode()),
        text(b"b.py", "\n".join(others_after).encode()),
    ]
    whole = rows(definition_diff(old, new, changed_lines))
    assert whole
    assert rows(definition_diff(old, new, changed_lines, whole=False)) == whole


def test_most_definitions_of_a_long_file_are_untouched() -> None:
    blocks = generated(random.Random(1), 60)
    after = [*blocks]
    after[30] += "print(1)\n"
    old, new = (text(b"a.py", "\n".join(part).encode()) for part in (blocks, after))
    both = untouched(old.symbols, new.symbols, changed_lines(old.data, new.data))
    assert len(both.old) == len(both.new) > len(old.symbols) * 0.7
    names = [sorted(old.symbols[at].qualified for at in both.old)]
    assert names == [sorted(new.symbols[at].qualified for at in both.new)]


def test_a_name_that_a_file_has_twice_is_never_untouched() -> None:
    once = "\n\n".join(f"def f{number}():\n    pass" for number in range(9))
    data = f"{once}\n\n\ndef f4():\n    pass\n".encode()
    file, other = text(b"a.py", data), text(b"a.py", data + b"print(1)\n")
    both = untouched(file.symbols, other.symbols, changed_lines(file.data, other.data))
    assert "f4" not in {file.symbols[at].qualified for at in both.old}
    assert "f3" in {file.symbols[at].qualified for at in both.old}
