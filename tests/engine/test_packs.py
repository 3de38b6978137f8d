"""Packs: an index of commits as a file for other clones, and which packs are refused."""

from __future__ import annotations

import hashlib
import json
import lzma
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from auth_files import FILES
from gitrepo import GitRepo
from lamp_contexts import LAMP

from codelens.answers.upkeep_answers import UnpackAnswer
from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.errors import NoSuchRef, NotInGit, SettingError
from codelens.store.facts.resolution_facts import plain_columns
from codelens.store.packs import (
    MalformedRecord,
    PackedContent,
    PackReader,
    PackWriter,
    UnusablePack,
    decoded,
    encoded,
)

MARK = "Quagga"
TRACKED = {
    **FILES,
    "src/lamp.py": LAMP,
    "web/app.ts": "export class Page {\n  open(): void {}\n}\n",
}
QUERIES = ("validate session", "lamp", "Page", "def")


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    made = GitRepo.init(tmp_path_factory.mktemp("packed") / "repo")
    made.commit("first", TRACKED)
    made.write("untracked.py", f"class {MARK}Untracked:\n    pass\n")
    made.write("src/auth.py", FILES["src/auth.py"] + f"\n\ndef {MARK.lower()}_uncommitted(): ...\n")
    return made


@pytest.fixture(scope="module")
def pack(repo: GitRepo, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packs")
    with Engine(Settings(folder / "home")) as engine:
        engine.save(f"{MARK}Note", "precious", handles=["src/lamp.py"], path=repo.root)
        answer = engine.pack(folder / "a.pack", path=repo.root)
    assert answer.contents == len(TRACKED)
    assert answer.size_bytes == (folder / "a.pack").stat().st_size
    return folder / "a.pack"


@pytest.fixture
def clone(repo: GitRepo, tmp_path: Path) -> GitRepo:
    return GitRepo.clone(repo.root, tmp_path / "clone")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(Settings(tmp_path / "home")) as made:
        yield made


def answers(engine: Engine, root: Path) -> list[object]:
    lists = [engine.search(query, path=root).results for query in QUERIES]
    outline = engine.outline("src/auth.py", path=root).files
    related = engine.related("src/auth.py#Session", path=root).results
    return [*lists, outline, related]


def test_a_clone_with_a_pack_parses_nothing_and_answers_the_same(
    pack: Path, clone: GitRepo, engine: Engine, tmp_path: Path
) -> None:
    answer = engine.unpack(pack, path=clone.root)
    count = len(TRACKED)
    assert answer == UnpackAnswer(str(pack), count, count, 0, count)
    assert engine.look(path=clone.root).indexed == 0
    with Engine(Settings(tmp_path / "fresh")) as fresh:
        assert answers(engine, clone.root) == answers(fresh, clone.root)
    assert engine.unpack(pack, path=clone.root).merged == 0


def test_only_differing_files_are_parsed(pack: Path, clone: GitRepo, engine: Engine) -> None:
    clone.write("src/lamp.py", LAMP.replace("lamp", "lantern"))
    clone.write("more.py", "def more():\n    return 1\n")
    engine.unpack(pack, path=clone.root)
    assert engine.look(path=clone.root).indexed == 2
    assert engine.search("more", path=clone.root).results[0].handle == "more.py#more"


def test_the_disk_is_believed_and_not_the_pack(pack: Path, clone: GitRepo, engine: Engine) -> None:
    """Same names, same sizes, even the same git objects in the index: other text on disk."""
    text = FILES["src/auth.py"].replace("validate", "vilidate")
    clone.write("src/auth.py", text)
    engine.unpack(pack, path=clone.root)
    found = [hit.handle for hit in engine.search("vilidate", path=clone.root).results]
    assert "src/auth.py#Session.vilidate" in found
    assert all("validate" not in hit.handle
               for hit in engine.search("validate", path=clone.root).results)  # fmt: skip


def test_the_same_commit_gives_the_same_bytes(
    pack: Path, clone: GitRepo, engine: Engine, tmp_path: Path
) -> None:
    engine.pack(tmp_path / "b.pack", path=clone.root)
    assert (tmp_path / "b.pack").read_bytes() == pack.read_bytes()


def raw_of(pack: Path) -> tuple[dict, bytes]:
    with pack.open("rb") as file:
        reader = PackReader(file, "pack")
        return reader.head, b"".join(reader.records())


def test_only_files_that_git_tracks_are_in_it(pack: Path, repo: GitRepo) -> None:
    head, raw = raw_of(pack)
    assert b"validate" in raw
    for hidden in (MARK, MARK.lower(), "precious", str(repo.root), "src/auth.py", "untracked"):
        assert hidden.encode() not in raw, hidden
        assert hidden not in json.dumps(head), hidden


def test_since_leaves_out_earlier_commits(clone: GitRepo, engine: Engine, tmp_path: Path) -> None:
    clone.commit("second", {"more.py": "def more():\n    return 1\n"})
    assert engine.pack(tmp_path / "s.pack", since="HEAD~1", path=clone.root).contents == 1
    both = engine.pack(tmp_path / "b.pack", refs=["HEAD", "HEAD~1"], path=clone.root)
    assert both.contents == len(TRACKED) + 1
    assert len(both.commits) == 2


def test_unpackable_files_are_reported(engine: Engine, clone: GitRepo, tmp_path: Path) -> None:
    with pytest.raises(NoSuchRef):
        engine.pack(tmp_path / "x.pack", refs=["nowhere"], path=clone.root)
    with pytest.raises(SettingError, match="cannot write the pack"):
        engine.pack(tmp_path / "no" / "x.pack", path=clone.root)
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(NotInGit):
        engine.pack(tmp_path / "x.pack", path=plain)
    for file in (tmp_path / "none.pack", plain):
        with pytest.raises(SettingError, match="cannot read the pack"):
            engine.unpack(file, path=clone.root)
    assert not list(tmp_path.glob(".*.new-*"))


def refused(engine: Engine, clone: GitRepo, file: Path) -> str:
    """Why a pack is refused; checks that nothing of it is stored."""
    with pytest.raises(UnusablePack) as caught:
        engine.unpack(file, path=clone.root)
    assert engine.look(path=clone.root).indexed == len(TRACKED)
    return str(caught.value)


def test_damage_anywhere_is_noticed(
    pack: Path, clone: GitRepo, engine: Engine, tmp_path: Path
) -> None:
    whole = pack.read_bytes()
    bad = tmp_path / "bad.pack"
    places = {*range(0, len(whole), max(1, len(whole) // 60)), len(whole) - 1}
    for at in sorted(places):
        bad.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        with pytest.raises(UnusablePack):
            engine.unpack(bad, path=clone.root)
        bad.write_bytes(whole[:at])
        with pytest.raises(UnusablePack):
            engine.unpack(bad, path=clone.root)
    bad.write_bytes(whole + b"x")
    assert "its digest or number of records is wrong" in refused(engine, clone, bad)


def test_a_file_that_is_not_a_pack_is_refused(
    clone: GitRepo, engine: Engine, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.pack"
    bad.write_bytes(b"PK\x03\x04" + b"\0" * 100)
    assert "it is not a codelens pack" in refused(engine, clone, bad)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"extractor": 9999}, "version 9999 of the extractor"),
        ({"format": 3}, "it has format 3"),
        ({"format": "x" * 100}, "it has format xxxx"),
        ({"byteorder": "big"}, "another byte order"),
        ({"extractor": None}, "version None"),
    ],
)
def test_other_versions_are_refused(
    pack: Path, clone: GitRepo, engine: Engine, tmp_path: Path, change: dict, why: str
) -> None:
    head, _ = raw_of(pack)
    bad = tmp_path / "bad.pack"
    with bad.open("wb") as file:
        PackWriter(file, {**head, **change}).close()
    assert why in refused(engine, clone, bad)


def rewritten(pack: Path, bad: Path, change: Callable[[PackedContent], PackedContent]) -> None:
    """Rewrites each content of a pack by `change`, with correct digests."""
    with pack.open("rb") as file, bad.open("wb") as out:
        reader = PackReader(file, "pack")
        writer = PackWriter(out, reader.head)
        for record in reader.records():
            writer.add(encoded(change(decoded(record))))
        writer.close()


def test_facts_of_another_extractor_are_left_out(
    pack: Path, clone: GitRepo, engine: Engine, tmp_path: Path
) -> None:
    rewritten(pack, tmp_path / "old.pack", lambda content: content._replace(version=1))
    answer = engine.unpack(tmp_path / "old.pack", path=clone.root)
    assert (answer.merged, answer.outdated) == (0, len(TRACKED))


def test_false_facts_are_noticed(
    pack: Path, clone: GitRepo, engine: Engine, tmp_path: Path
) -> None:
    def lying(content: PackedContent) -> PackedContent:
        rows = [(*row[:6], "def harmless()", *row[7:]) for row in content.facts.symbol_rows]
        return content._replace(facts=content.facts._replace(symbol_rows=rows))

    rewritten(pack, tmp_path / "bad.pack", lying)
    assert "differ from those of this repository's text" in refused(
        engine, clone, tmp_path / "bad.pack"
    )


def words(*numbers: int) -> bytes:
    return struct.pack(f"={len(numbers)}I", *numbers)


def flow_of(*numbers: int) -> bytes:
    return words(0, *numbers)


MALFORMED: dict[str, dict[str, object]] = {
    "chunks that are cut": {"chunks": b"\0" * 31},
    "chunks beyond the text": {"chunks": words(1, 2**31, 0, 1, 0, 1, 0, 0), "body_terms": 1},
    "chunks of no symbol": {"chunks": words(1, 1, 0, 1, 2**30, 0, 0, 0)},
    "more chunks than there are": {"chunk_count": 2**31},
    "counts that do not add up": {"body_terms": 2**31},
    "terms beyond the chunks": {"terms": {"lamp": words(0, 0xFFFF0000)}},
    "terms in disorder": {"terms": {"lamp": words(0, 0, 0)}},
    "terms that are cut": {"terms": {"lamp": b"abc"}},
    "terms that occur nowhere": {"terms": {"lamp": b""}},
    "references that are cut": {"references": words(1000)},
    "references to no name": {"references": words(0, 4000, 1, 0, 0)},
    "references from no symbol": {"references": words(0, 0, 1, 0, 2**31)},
    "no references at all": {"references": b""},
    "imports that are cut": {"imports": b"os\0path"},
    "imports on no line": {"imports": b"os\0path\0\0nowhere"},
    "imports beyond the text": {"imports": b"os\0path\0\x0099999999999999999999"},
    "bindings beyond the text": {"flow": flow_of(1, 1, 0, 0, 0, 0, 0, 0, 0, 2**31)},
    "a term that is half a character": {"terms": {"\ud800": words(0, 0)}},
    "imports that are no text": {"imports": b"\xff\xfe\0\0\0001"},
    "a scope inside itself": {"flow": flow_of(1, 0, 1, 0, 0)},
    "a scope of no symbol": {"flow": flow_of(1, 0, 0, 2**31, 0)},
    "a scope of no kind": {"flow": flow_of(1, 0, 0, 0, 77)},
    "more scopes than there are": {"flow": flow_of(2**31, 0)},
    "bindings in no scope": {"flow": flow_of(0, 1, 5, 0, 0, 0, 1)},
    "bindings of no text": {"flow": flow_of(1, 1, 0, 0, 0, 0, 77, 0, 0, 1)},
    "flow that is cut": {"flow": b"abc"},
    "lines that are none": {"lines": -1},
    "a surface that no digest is": {"surface": 2**64},
    "an outcome that is none": {"outcome": "splendid"},
}  # fmt: skip


@pytest.mark.parametrize("case", MALFORMED)
def test_facts_that_no_extraction_gives_are_refused(
    pack: Path, clone: GitRepo, engine: Engine, tmp_path: Path, case: str
) -> None:
    fields = dict(MALFORMED[case])
    if "flow" in fields:
        fields |= {"references": b""}
    for name in ("flow", "references"):
        if fields.get(name):
            fields[name] = zlib.compress(fields[name])  # type: ignore[arg-type]

    def spoiled(content: PackedContent) -> PackedContent:
        # A text that is not stored here, so that the pack is not compared with it.
        other = bytes(16), content.key[1]
        return content._replace(key=other, facts=content.facts._replace(**fields))

    rewritten(pack, tmp_path / "bad.pack", spoiled)
    assert "it is malformed" in refused(engine, clone, tmp_path / "bad.pack")


def test_references_beyond_the_text_are_refused(
    pack: Path, clone: GitRepo, engine: Engine, tmp_path: Path
) -> None:
    def spoiled(content: PackedContent) -> PackedContent:
        if not content.facts.references:
            return content
        data = bytearray(zlib.decompress(content.facts.references))
        first = plain_columns(bytes(data)).lines[0]
        at = 4 + struct.unpack("=I", data[:4])[0]
        at += (len(data) - at) // 4
        assert data[at : at + 4] == words(first)
        data[at : at + 4] = words(content.facts.lines + 2)
        facts = content.facts._replace(references=zlib.compress(bytes(data)))
        return content._replace(key=(bytes(16), content.key[1]), facts=facts)

    rewritten(pack, tmp_path / "bad.pack", spoiled)
    assert "a reference is beyond the text" in refused(engine, clone, tmp_path / "bad.pack")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (13, 0),
        (13, 10**6),
        (8, 10**9),
        (11, -1),
        (11, 2**40),
        (8, True),
        (1, 5),
        (3, None),
        (1, "\ud800"),
        (5, "half of \udfff"),
    ],
)
def test_definitions_that_lead_nowhere_are_refused(
    pack: Path, clone: GitRepo, engine: Engine, tmp_path: Path, field: int, value: object
) -> None:
    def spoiled(content: PackedContent) -> PackedContent:
        rows = [(*row[:field], value, *row[field + 1 :]) for row in content.facts.symbol_rows]
        facts = content.facts._replace(symbol_rows=rows)  # type: ignore[arg-type]
        return content._replace(key=(bytes(16), content.key[1]), facts=facts)  # type: ignore[arg-type]

    rewritten(pack, tmp_path / "bad.pack", spoiled)
    assert "it is malformed" in refused(engine, clone, tmp_path / "bad.pack")


def frames(head: dict, *parts: tuple[bytes, int]) -> bytes:
    """Makes a pack of frames with arbitrary declared lengths and correct digests."""
    text = json.dumps({"format": 1, **head}).encode()
    data = b"codelens pack\n" + struct.pack("<I", len(text)) + text
    for part, stated in parts:
        data += struct.pack("<II", len(part), stated) + hashlib.sha256(part).digest() + part
    data += struct.pack("<II", 0, 0)
    return data + hashlib.sha256(data).digest()


def test_a_bomb_is_not_unpacked(pack: Path, clone: GitRepo, engine: Engine, tmp_path: Path) -> None:
    head, _ = raw_of(pack)
    bomb = lzma.compress(bytes(30_000_000), preset=0)
    greedy = lzma.compress(b"x", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 2**30}])
    bad = tmp_path / "bad.pack"
    for part, why in (
        ((bomb, 1000), "a frame has the wrong length"),
        ((bomb, 97 * 1024 * 1024), "a frame is too large"),
        ((bomb, 2**32 - 1), "a frame is too large"),
        ((bomb[:1000], 96 * 1024 * 1024), "a frame has the wrong length"),
        ((b"no xz at all", 100), "cannot be decompressed"),
        ((greedy, 1), "cannot be decompressed"),
        ((lzma.compress(struct.pack("<I", 2**31)), 4), "a record is cut short"),
        ((lzma.compress(b"\1\0"), 2), "a record is cut short"),
        ((lzma.compress(struct.pack("<I", 8) + b"[" * 8), 12), "it is malformed"),
    ):
        bad.write_bytes(frames(head, part))
        with pytest.raises(UnusablePack, match=why):
            engine.unpack(bad, path=clone.root)
    bad.write_bytes(b"codelens pack\n" + struct.pack("<I", 2**32 - 1))
    assert "its head is too large" in refused(engine, clone, bad)


def test_a_deep_record_is_malformed() -> None:
    text = b"[" * 100_000
    with pytest.raises(MalformedRecord):
        decoded(struct.pack("<I", len(text)) + text)
