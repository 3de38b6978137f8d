"""Which files of a package are permissively licensed, by the package's own metadata."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from email.parser import HeaderParser
from fnmatch import fnmatchcase

PERMISSIVE = {
    "mit": "MIT",
    "mit-1": "MIT",
    "expat": "MIT",
    "x11": "MIT",
    "mit/x11": "MIT",
    "mit-cmu": "MIT",
    "mit-0": "MIT-0",
    "mit license": "MIT",
    "the mit license": "MIT",
    "mit-style": "MIT",
    "apache-2": "Apache-2.0",
    "apache-2.0": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache2": "Apache-2.0",
    "apache2.0": "Apache-2.0",
    "asl-2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache license version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd": "BSD",
    "bsd-2": "BSD-2-Clause",
    "bsd-3": "BSD-3-Clause",
    "bsd-4": "BSD-4-Clause",
    "bsd-2-clause": "BSD-2-Clause",
    "bsd-3-clause": "BSD-3-Clause",
    "bsd-2-clauses": "BSD-2-Clause",
    "bsd-3-clauses": "BSD-3-Clause",
    "bsd2": "BSD-2-Clause",
    "bsd3": "BSD-3-Clause",
    "bsd2c": "BSD-2-Clause",
    "bsd3c": "BSD-3-Clause",
    "bsd-style": "BSD",
    "bsd license": "BSD",
    "0bsd": "0BSD",
    "isc": "ISC",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "zlib": "Zlib",
    "zlib/libpng": "Zlib",
    "psf": "PSF-2.0",
    "psf-2": "PSF-2.0",
    "psf-2.0": "PSF-2.0",
    "python software foundation license": "PSF-2.0",
    "bsl-1.0": "BSL-1.0",
    "bsl": "BSL-1.0",
    "postgresql": "PostgreSQL",
    "tcl": "TCL",
    "ncsa": "NCSA",
    "ruby-or-bsd-2-clause": "BSD-2-Clause",
}
"""Names that packages give to permissive licences -> SPDX name."""

Judge = Callable[[str], str]
"""Maps a path in the archive to its licence; empty if it is not permissive."""


def permissive(text: str) -> str:
    """The SPDX name of a permissive licence, or of the permissive one among alternatives."""
    plain = " ".join(text.lower().strip().strip("()").split())
    every = [part for part in re.split(r"\s+and\s+|,\s*", plain) if part]
    if len(every) > 1 and plain not in PERMISSIVE:
        parts = [permissive(part) for part in every]
        return " AND ".join(sorted(set(parts))) if all(parts) else ""
    for part in [plain, *re.split(r"\s+or\s+|\s*\|\s*", plain)]:
        spdx = PERMISSIVE.get(part.strip())
        if spdx is None and re.fullmatch(r"bsd-[234]-clause(s)?([~-][\w.~-]+)?", part):
            spdx = f"BSD-{part[4]}-Clause"
        if spdx is None and re.fullmatch(r"(mit|expat)[~-][\w.~-]+", part):
            spdx = "MIT"
        if spdx is not None:
            return spdx
    return ""


def of_debian(copyright_file: str) -> Judge:
    """The licences of a source package by its `debian/copyright`; the last matching stanza counts.

    A file that is not in the machine-readable form is not evidence of a licence.
    """
    stanzas: list[tuple[list[str], str]] = []
    for paragraph in re.split(r"\n\s*\n", copyright_file):
        fields = HeaderParser().parsestr(paragraph.strip("\n"))
        files, licence = fields.get("Files"), fields.get("License")
        if files and licence:
            stanzas.append((files.split(), licence.strip().splitlines()[0]))

    def judge(path: str) -> str:
        licence = ""
        for globs, name in stanzas:
            if any(fnmatchcase(path, glob) for glob in globs):
                licence = permissive(name)
        return licence

    return judge


def of_wheel(metadata: str) -> Judge:
    """The licence of a wheel, by its metadata."""
    fields = HeaderParser().parsestr(metadata)
    said = [fields.get("License-Expression") or ""]
    classifiers = [
        line.rsplit("::", 1)[1].strip()
        for line in fields.get_all("Classifier") or ()
        if line.startswith("License ::") and not line.endswith(":: OSI Approved")
    ]
    if len(classifiers) == 1:
        said += classifiers
    short = (fields.get("License") or "").strip()
    if short and "\n" not in short and not classifiers:
        said.append(short)
    licence = next((name for text in said if text and (name := permissive(text))), "")
    return lambda path: licence


def of_npm(package_json: str) -> Judge:
    """The licence of an npm package, by its `package.json`."""
    said = json.loads(package_json).get("license", "")
    licence = permissive(said) if isinstance(said, str) else ""
    return lambda path: licence
