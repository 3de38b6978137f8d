"""How a definition differs from what it was: place, name, signature, body, documentation."""

from __future__ import annotations

from codelens.branches.code_tokens import is_same_code
from codelens.branches.definition_matcher import Matches
from codelens.branches.file_definitions import Definition, alike, renamed, squeezed

ADDED, REMOVED, MOVED, RENAMED = "added", "removed", "moved", "renamed"
SIGNATURE, BODY, DOCUMENTATION, FORMATTING = "signature", "body", "documentation", "formatting"


def change_of(old: Definition, new: Definition, matches: Matches) -> tuple[tuple[str, ...], float]:
    """How a definition differs from what it was; nothing for one that does not."""
    how: list[str] = []
    if (new.file.path, new.owner) not in matches.scopes_of(old):
        how.append(MOVED)
    by_owner = old.owner.rpartition(".")[2] == old.name and new.owner.rpartition(".")[2] == new.name
    if old.name != new.name and not by_owner:
        how.append(RENAMED)
    before, after = _where_renamed(old.own, _as_now(old.own, old, new), new.own), new.own
    if before != after:
        how += text_changes(before, after, old, new)
    share = 0.0
    if {MOVED, RENAMED} & set(how) and len(how) > 1:
        share = round(1.0 - alike(old.words, new.words), 2)
    return tuple(how), share


def text_changes(before: bytes, after: bytes, old: Definition, new: Definition) -> list[str]:
    """How two texts of one definition differ; they do."""
    language = new.file.language
    if is_same_code(before, after, language, with_comments=True):
        return [FORMATTING]
    if is_same_code(before, after, language, with_comments=False):
        return [DOCUMENTATION]
    if old.group == "value":
        return [BODY]
    declared = _as_now(old.symbol.signature.encode("utf-8", "replace"), old, new)
    now_declared = new.symbol.signature.encode("utf-8", "replace")
    if is_same_code(declared, now_declared, language, with_comments=False):
        return [BODY]
    code_before, code_after = new.written(before), new.written(after)
    sign_before, sign_after = squeezed(declared), new.signature
    rest = [
        code.replace(sign, b"", 1) if sign in code else None
        for code, sign in ((code_before, sign_before), (code_after, sign_after))
    ]
    if None not in rest and rest[0] == rest[1]:
        return [SIGNATURE]
    return [SIGNATURE, BODY]


def _as_now(text: bytes, old: Definition, new: Definition) -> bytes:
    """An old text with the present names of itself and of its owners."""
    if old.name != new.name:
        text = renamed(text, old.name, new.name)
    before, after = old.owner.split("."), new.owner.split(".")
    if len(before) == len(after):
        for name, new_name in zip(before, after, strict=True):
            if name != new_name:
                text = renamed(text, name, new_name)
    return text


def _where_renamed(old: bytes, as_now: bytes, new: bytes) -> bytes:
    """The old text with present names, but for lines (of comments) that still have the old ones."""
    if old == as_now:
        return old
    lines = [text.split(b"\n") for text in (old, as_now, new)]
    if len({len(line) for line in lines}) > 1:
        return as_now
    return b"\n".join(
        before if before == after else now for before, now, after in zip(*lines, strict=True)
    )
