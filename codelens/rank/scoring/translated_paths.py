"""Which paths are one file in several human languages: `locale/de/formats.py`, `README.fr.md`."""

from __future__ import annotations

import re
from functools import lru_cache

_LOCALES = (
    "af ar az be bg bn bs ca ckb cs cy da de el en eo es et eu fa fi fr fy ga gd gl he hi hr hu hy "
    "id ig io is it ja ka kab kk km kn ko ky lb lt lv mk ml mn mr ms my nb ne nl nn no os pa pl pt "
    "ro ru sk sl sq sr sv sw ta te tg th tk tr tt udm ug uk ur uz vi zh"
)
"""ISO 639 codes that software is translated to (those of Django's own list, and a few more)."""
_LOCALE = re.compile(
    rf"(?i)(?:{'|'.join(_LOCALES.split())})(?:[_-](?:[a-z]{{2}}|[a-z]{{4}}|\d{{3}}))?\Z"
)
_LOCALE_FOLDERS = frozenset(
    "locale locales lang langs language languages i18n l10n intl nls translations translation "
    "messages".split()
)
_DATA = frozenset(
    "properties json yml yaml po resx strings arb ftl xlf xml toml ini md markdown mdx rst txt "
    "adoc html".split()
)
_SUFFIX = re.compile(r"(.+)[._-]([A-Za-z]{2,3}(?:[_-][A-Za-z0-9]{2,4})?)\Z")


@lru_cache(maxsize=20_000)
def family(path: bytes, *, prose: bool) -> str:
    """What the translations of a file share and other files do not; empty if it is none.

    A code of two letters is also a word (`io`, `is`, `my`). So it counts only below a folder that
    says so, in prose, or at the end of the stem of a data file; `README.md` is of the family of
    `README.de.md`.
    """
    *folders, name = path.decode("utf-8", "surrogateescape").split("/")
    stem, dot, ending = name.rpartition(".")
    if not dot:
        stem, ending = name, ""
    is_found = False
    shown: list[str] = []
    for at, part in enumerate([*folders, stem]):
        is_locale = prose or (at > 0 and folders[at - 1].lower() in _LOCALE_FOLDERS)
        suffix = _SUFFIX.match(part) if at == len(folders) and ending in _DATA else None
        if is_locale and _LOCALE.match(part):
            shown.append("*")
            is_found = True
        elif suffix and _LOCALE.match(suffix[2]):
            shown.append(suffix[1])
            is_found = True
        else:
            shown.append(part)
    if not is_found and ending not in _DATA:
        return ""
    return f"{'/'.join(shown)}.{ending}"
