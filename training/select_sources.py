"""Lists the packages to train on: usable archives of a folder.

    python -m training.select_sources ARCHIVES     # writes SOURCES.tsv

A package is listed if it is not a repository that judges and has at least a few files under a
permissive licence.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from training import archives, judges, leave_out
from training.archives import Source
from training.corpus import texts_of

_LEAST_FILES = 3
HEAD = "registry\tname\tversion\tlicence\tfiles\tsha256\n"


def _named(folder: Path) -> list[tuple[str, str, str, Path]]:
    found: list[tuple[str, str, str, Path]] = []
    for dsc in sorted((folder / "debian").glob("*.dsc")):
        text = dsc.read_text(encoding="utf-8", errors="replace")
        name = re.search(r"^Source: (\S+)", text, re.MULTILINE)
        version = re.search(r"^Version: (\S+)", text, re.MULTILINE)
        if name and version:
            archive = archives.find("debian", name[1], version[1], folder / "debian")
            if archive:
                found.append(("debian", name[1], version[1], archive))
    for wheel in sorted((folder / "pypi").glob("*.whl")):
        name, version = wheel.name.split("-")[:2]
        found.append(("pypi", name.replace("_", "-").lower(), version, wheel))
    for pack in sorted((folder / "npm").glob("*.tgz")):
        package = archives.npm_name(pack)
        found.append(("npm", *package, pack))
    return found


def main() -> None:
    """Writes SOURCES.tsv."""
    rows: list[Source] = []
    for registry, name, version, archive in _named(Path(sys.argv[1])):
        if judges.is_judge(name):
            print(f"a judge: {name}", file=sys.stderr)
            continue
        texts, licences = texts_of(archives.open_package(archive, registry), frozenset())
        if len(texts) < _LEAST_FILES:
            print(f"{len(texts)} files: {registry} {name}", file=sys.stderr)
            continue
        digest = archives.digest_of(archive)
        licence = "; ".join(sorted(licences))
        rows.append(Source(registry, name, version, licence, len(texts), digest))
    lines = ("\t".join(map(str, row)) + "\n" for row in rows)
    leave_out.SOURCES.write_text(HEAD + "".join(lines), encoding="utf-8")
    print(f"{len(rows)} packages", file=sys.stderr)


if __name__ == "__main__":
    main()
