"""Determines a file's language by override, name, extension, `#!` line and content.

`languages/detection.json` caches the needed settings of all languages, because reading fifty
settings files would cost each command 50 ms. The cache holds a digest of those files. If the digest
differs, the files are read instead, and a test asks for a new cache (`python -m
codelens.extract.language_detection`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from hashlib import blake2b
from typing import NamedTuple, TypedDict, cast

from codelens.extract import language_settings
from codelens.extract.extractor_version import CORE_VERSION
from codelens.extract.language_settings import TEXT, language_info

_VERSIONS_PER_CORE = 1000
_HEAD_BYTES = 4096
"""Detection reads this many first bytes of a text, or of its code."""
_COMMENTED_BYTES = 65_536
"""Bytes to search for code after a long comment: a license, conventions, a table of contents."""
_C_COMMENT = re.compile(rb"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/")
_INDEX = "detection.json"


class Traits(NamedTuple):
    """The properties that identify a language."""

    name: str
    title: str
    version: int
    parsed: bool
    """Whether the language has a grammar."""
    extensions: tuple[str, ...]
    filenames: tuple[str, ...]
    stems: tuple[str, ...]
    interpreters: tuple[str, ...]
    aliases: tuple[str, ...]
    """Other names of the language in fenced code."""
    contested: tuple[tuple[str, str], ...]


class _Index(TypedDict):
    digest: str
    languages: list[list[object]]


class _Table(NamedTuple):
    by_extension: Mapping[str, str]
    by_filename: Mapping[str, str]
    by_stem: Mapping[str, str]
    by_interpreter: Mapping[str, str]
    contested: Mapping[str, list[tuple[re.Pattern[bytes], str]]]


@cache
def all_traits() -> Mapping[str, Traits]:
    """Returns the traits of all languages by name."""
    try:
        cache_content = cast("_Index", json.loads((language_settings.FOLDER / _INDEX).read_bytes()))
    except (OSError, ValueError):
        cache_content = _Index(digest="", languages=[])
    if cache_content["digest"] == settings_digest():
        languages = [Traits._make(map(_frozen, row)) for row in cache_content["languages"]]
    else:
        languages = list(_read())
    return {language.name: language for language in languages}


def language_called(word: str) -> str | None:
    """Returns the language with this name, title, alias or extension; None if unknown."""
    by_name = all_traits()
    word = word.lower()
    if word in by_name:
        return word
    for traits in by_name.values():
        if word == traits.title.lower() or word in traits.aliases:
            return traits.name
    return next(
        (language.name for language in by_name.values() if f".{word}" in language.extensions),
        None,
    )


def extractor_version(language: str) -> int:
    """Returns the version of a language's facts, from the core version and the language's own."""
    return CORE_VERSION * _VERSIONS_PER_CORE + all_traits()[language].version


def language_of(path: bytes, text: bytes, overrides: Mapping[str, str] | None = None) -> str:
    """Returns a file's language by override, name, extension, `#!` line and content.

    It returns `text` if the language is unknown.

    Args:
        path: relative to the worktree, `/` between its parts.
        text: the file's text, or its first few kB. Only those and code after C comments count.
        overrides: glob -> language; the last match wins. A glob without `/` matches the file
            name, one with `/` the whole path; `**` crosses folders.

    Raises:
        SettingError: an override names an unknown language.
    """
    by_path = language_by_path(path, overrides)
    if by_path is not None:
        return by_path
    table = _table()
    extension = _extension(_name(path))
    contested = table.contested.get(extension, ())
    for part in _significant_parts(text) if contested else ():
        for pattern, language in contested:
            if pattern.search(part):
                return language
    if extension:
        return table.by_extension.get(extension, TEXT)
    return table.by_interpreter.get(_interpreter(text[:_HEAD_BYTES]), TEXT)


def _significant_parts(text: bytes) -> Iterator[bytes]:
    """Yields the head of the text, and the head of its code if comments fill the former."""
    head = text[:_HEAD_BYTES]
    yield head
    if len(text) > _HEAD_BYTES:
        code = _C_COMMENT.sub(b"", text[:_COMMENTED_BYTES])[:_HEAD_BYTES]
        if code != head:
            yield code


def language_by_path(path: bytes, overrides: Mapping[str, str] | None = None) -> str | None:
    """Returns the language that the path alone determines; None if the content is needed.

    Raises:
        SettingError: an override names an unknown language.
    """
    if overrides:
        chosen = _override(path, tuple(overrides.items()))
        if chosen is not None:
            return chosen
    table = _table()
    name = _name(path)
    language = table.by_filename.get(name)
    if language is not None:
        return language
    extension = _extension(name)
    if not extension or extension in table.contested:
        return None
    language = table.by_extension.get(extension)
    return language or table.by_stem.get(name.partition(".")[0], TEXT)


def _name(path: bytes) -> str:
    return path[path.rfind(b"/") + 1 :].decode("utf-8", "replace")


def _extension(name: str) -> str:
    """Returns the extension; of `a.component.html`, both if a language has them."""
    stem, extension = os.path.splitext(name)
    if "." in stem:
        both = (os.path.splitext(stem)[1] + extension).lower()
        if both in _table().by_extension:
            return both
    return extension.lower()


_SHEBANG = re.compile(rb"#![ \t]*(?:\S*/)?(\S+)([^\n]*)")


def _interpreter(head: bytes) -> str:
    """Returns the program name in a `#!` line without version digits."""
    match = _SHEBANG.match(head)
    if not match:
        return ""
    program = match[1]
    if program == b"env":
        words = [word for word in match[2].split() if word[:1] != b"-" and b"=" not in word]
        program = words[0].rsplit(b"/", 1)[-1] if words else b""
    return program.decode("utf-8", "replace").rstrip("0123456789.")


def _override(path: bytes, rules: tuple[tuple[str, str], ...]) -> str | None:
    text = path.decode("utf-8", "surrogateescape")
    name = text[text.rfind("/") + 1 :]
    for pattern, whole_path, language in reversed(_compiled(rules)):
        if pattern.fullmatch(text if whole_path else name):
            return language
    return None


@lru_cache(maxsize=16)
def _compiled(rules: tuple[tuple[str, str], ...]) -> list[tuple[re.Pattern[str], bool, str]]:
    for _, language in rules:
        language_info(language)
    return [
        (re.compile(_glob(glob.lstrip("/"))), "/" in glob, language) for glob, language in rules
    ]


_GLOB_PARTS = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\[[^]/]+\]|.", re.DOTALL)


def _glob(glob: str) -> str:
    parts: list[str] = []
    for part in _GLOB_PARTS.findall(glob):
        if part == "**/":
            parts.append("(?:.*/)?")
        elif part in {"/**", "**"}:
            parts.append(".*")
        elif part == "*":
            parts.append("[^/]*")
        elif part == "?":
            parts.append("[^/]")
        elif len(part) > 1:
            parts.append("[" + part[1:-1].replace("\\", "\\\\").replace("!", "^", 1) + "]")
        else:
            parts.append(re.escape(part))
    return "(?s:" + "".join(parts) + ")"


@cache
def _table() -> _Table:
    languages = list(all_traits().values())
    contested: dict[str, list[tuple[re.Pattern[bytes], str]]] = {}
    for language in languages:
        for extension, pattern in language.contested:
            entry = (re.compile(pattern.encode(), re.MULTILINE), language.name)
            contested.setdefault(extension, []).append(entry)
    return _Table(
        {key: language.name for language in languages for key in language.extensions},
        {key: language.name for language in languages for key in language.filenames},
        {key: language.name for language in languages for key in language.stems},
        {key: language.name for language in languages for key in language.interpreters},
        contested,
    )


def settings_digest() -> str:
    """Returns the digest of all settings files."""
    digest = blake2b(digest_size=16)
    for path in sorted(language_settings.FOLDER.glob("*.toml")):
        data = path.read_bytes()
        digest.update(f"{path.name} {len(data)}\n".encode() + data)
    return digest.hexdigest()


def index_text() -> str:
    """Returns the expected content of `detection.json`."""
    rows = ",\n".join(json.dumps(language, ensure_ascii=False) for language in _read())
    return f'{{"digest": "{settings_digest()}", "languages": [\n{rows}\n]}}\n'


def _read() -> Iterator[Traits]:
    for info in language_settings.languages():
        yield Traits(
            info.name, info.title, info.version, bool(info.grammar), info.extensions,
            info.filenames, info.stems, info.interpreters, info.aliases, info.contested,
        )  # fmt: skip


def _frozen(value: object) -> object:
    if isinstance(value, list):
        return tuple(map(_frozen, cast("list[object]", value)))
    return value


if __name__ == "__main__":
    (language_settings.FOLDER / _INDEX).write_text(index_text(), encoding="utf-8")
