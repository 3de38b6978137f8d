"""Reader of git's config files that are written in the plain way; libgit2 is asked about others.

A file is plain if each line is a remark, the head of a section, or `name = value` without a line
that goes on in the next one, and if it includes no other file. Of such files this says what libgit2
says, and libgit2 need not be loaded for it, which costs a command a fifth of its time.
"""

from __future__ import annotations

from collections.abc import Iterable

from codelens.scope.special_files import CONFIG_BYTES, read_plain

_INCLUDING = {"include", "includeif"}
_REMARK = ("#", ";")
_QUOTED = ('"', "\\", *_REMARK)
_SEEN_ESCAPES = ("\\\\", '\\"', "\\n", "\\t", "\\b")
_YES = {"true", "yes", "on"}
_NO = {"false", "no", "off"}

Values = dict[str, str | None]
"""By whole names in lower case; None is a value that is not plain."""


class NotPlain(Exception):
    """Only libgit2 can tell."""


class PlainConfig:
    """The settings of some files."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._values

    def has_section(self, name: str) -> bool:
        """Whether anything is set in a section."""
        return any(key.startswith(f"{name}.") for key in self._values)

    def text(self, name: str) -> str | None:
        """A setting as it is written; None where it is not set.

        Raises:
            NotPlain: it is set to more than plain text.
        """
        key = name.lower()
        if key not in self._values:
            return None
        value = self._values[key]
        if value is None:
            raise NotPlain(name)
        return value

    def truth(self, name: str) -> bool | None:
        """A truth value; None where it is not set.

        Raises:
            NotPlain: it is set, and not by one of the usual words.
        """
        value = self.text(name)
        if value is None:
            return None
        word = value.lower()
        if word not in _YES | _NO:
            raise NotPlain(name)
        return word in _YES


def read_config(files: Iterable[str]) -> PlainConfig:
    """The settings of files, of which a later one counts more; one that is not there has none.

    Raises:
        NotPlain: one of them is not plain, cannot be read, or is no file.
    """
    values: Values = {}
    for file in files:
        values |= _values_in(_text_of(file))
    return PlainConfig(values)


def _text_of(file: str) -> str:
    try:
        data = read_plain(file, CONFIG_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError) as error:
        raise NotPlain(file) from error
    if len(data) == CONFIG_BYTES or b"\r" in data or b"\0" in data:
        raise NotPlain(file)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotPlain(file) from error


def _values_in(text: str) -> Values:
    values: Values = {}
    section = ""
    for raw in text.split("\n"):
        line = raw.strip(" \t")
        if not line or line.startswith(_REMARK):
            continue
        if line[0] == "[":
            section = _section_of(line)
            continue
        name, equals, value = line.partition("=")
        name = name.rstrip(" \t")
        if not (section and equals and _is_name(name, "-") and name[0].isalpha()):
            raise NotPlain(line)
        values[f"{section}.{name.lower()}"] = _plain_value(value.lstrip(" \t"))
    return values


def _section_of(line: str) -> str:
    """The name that a line begins a section with, its subsection included."""
    name, space, below = line[1:-1].partition(" ")
    if line[-1] != "]" or not _is_name(name, "-.") or name.lower() in _INCLUDING:
        raise NotPlain(line)
    if not space:
        return name.lower()
    inner = below[1:-1]
    if len(below) < 2 or below[0] + below[-1] != '""' or '"' in inner or "\\" in inner:
        raise NotPlain(line)
    return f"{name.lower()}.{inner}"


def _is_name(name: str, signs: str) -> bool:
    for sign in signs:
        name = name.replace(sign, "")
    return name.isascii() and name.isalnum()


def _plain_value(value: str) -> str | None:
    """The value; None if it has quotes, escapes or a remark, and is well formed even so."""
    if not any(sign in value for sign in _QUOTED):
        return value if value.isprintable() else None
    for escape in _SEEN_ESCAPES:
        value = value.replace(escape, "")
    outside = value.split('"')
    ends = any(sign in part for part in outside[::2] for sign in _REMARK)
    if "\\" in value or not (ends or len(outside) % 2):
        raise NotPlain(value)
    return None
