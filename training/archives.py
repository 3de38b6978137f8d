"""Source packages of three registries: fetched by name and version, read from their archives."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from training import licences
from training.licences import Judge

_LARGEST = 120_000
_SMALLEST = 300
_DEBIAN = (
    "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
    "http://deb.debian.org/debian bookworm main\n"
)
"""Where the sources of Debian come from: a release that changes only with its point releases."""


class Source(NamedTuple):
    """A row of SOURCES.tsv: one package."""

    registry: str
    name: str
    version: str
    licence: str
    """Licence of the selected files; several if the package licenses single files."""
    files: int
    """Number of files selected."""
    digest: str
    """SHA-256 of the archive."""


def read_sources(path: Path) -> list[Source]:
    """The packages to train on."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [
        Source(registry, name, version, licence, int(files), digest)
        for registry, name, version, licence, files, digest in rows[1:]
    ]


def fetch(source: Source, folder: Path) -> None:
    """Downloads the archives of a package into `folder`; nothing of it is run or built."""
    folder.mkdir(parents=True, exist_ok=True)
    if find(source.registry, source.name, source.version, folder) is not None:
        return
    if source.registry == "debian":
        command = [*_apt_get(folder), "source", "--download-only", "-q"]
        command.append(f"{source.name}={source.version}")
    elif source.registry == "npm":
        command = ["npm", "pack", "--silent", f"{source.name}@{source.version}"]
    else:
        command = [
            "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "--python-version",
            "3.12", "--platform", "any", "--platform", "manylinux2014_x86_64", "--platform",
            "manylinux_2_28_x86_64", f"{source.name}=={source.version}",
        ]  # fmt: skip
    # A client may fail at an optional part, such as the signature of a Debian archive.
    failing = _run(command, folder)
    if find(source.registry, source.name, source.version, folder) is None:
        raise SystemExit(f"{source.registry} gives no {source.name} {source.version}: {failing}")


def _apt_get(folder: Path) -> list[str]:
    """apt-get with separate lists: the machine's lists have no sources, and updates need root."""
    apt = folder.resolve() / "apt"
    command = ["apt-get"]
    for name, value in {
        "Dir::Etc::SourceList": apt / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": apt / "lists",
        "Dir::Cache": apt / "cache",
        "APT::Sandbox::User": "",
        "Acquire::Retries": 3,
    }.items():
        command += ["-o", f"{name}={value}"]
    if not (apt / "updated").exists():
        for name in ("lists", "cache"):
            (apt / name).mkdir(parents=True, exist_ok=True)
        (apt / "sources.list").write_text(_DEBIAN, encoding="ascii")
        if failing := _run([*command, "update", "-q"], folder):
            raise SystemExit(f"Debian's lists of sources cannot be had: {failing}")
        (apt / "updated").touch()
    return command


def _run(command: list[str], folder: Path) -> str:
    """Runs a registry's client; returns its error output if it fails, otherwise an empty string."""
    ended = subprocess.run(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    said = ended.stderr.strip()[-600:] or f"exit code {ended.returncode}"
    return said if ended.returncode else ""


def find(registry: str, name: str, version: str, folder: Path) -> Path | None:
    """The archive of a package in `folder`."""
    if registry == "debian":
        upstream = version.rsplit(":", maxsplit=1)[-1].rsplit("-", 1)[0]
        found = sorted(folder.glob(f"{name}_{upstream}.orig.tar.*"))
        archives = [path for path in found if path.suffix != ".asc"]
        return archives[0] if archives and _debian_part(archives[0]) else None
    if registry == "npm":
        path = folder / f"{name.lstrip('@').replace('/', '-')}-{version}.tgz"
        return path if path.exists() else None
    plain = name.replace("-", "_").lower()
    for path in sorted(folder.glob(f"*-{version}-*.whl")):
        if path.name.split("-")[0].lower() == plain:
            return path
    return None


def digest_of(path: Path) -> str:
    """SHA-256 of an archive."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _debian_part(archive: Path) -> Path | None:
    start = archive.name.split(".orig.tar")[0]
    return next(iter(sorted(archive.parent.glob(f"{start}-*.debian.tar.*"))), None)


class Package(NamedTuple):
    """An opened archive."""

    judge: Judge
    files: dict[str, bytes]
    """Texts of a useful size, by their path in the package."""


def open_package(archive: Path, registry: str) -> Package:
    """The texts of a package and a judge of their licences."""
    if registry == "pypi":
        with zipfile.ZipFile(archive) as wheel:
            names = [info for info in wheel.infolist() if _fits(info.file_size)]
            files = {info.filename: wheel.read(info) for info in names}
            metadata = next(
                wheel.read(info).decode("utf-8", "replace")
                for info in wheel.infolist()
                if info.filename.endswith(".dist-info/METADATA")
            )
        return Package(licences.of_wheel(metadata), files)
    files = dict(_tar_files(archive))
    if registry == "npm":
        with tarfile.open(archive) as tar:
            described = next(
                member for member in tar if member.name.split("/", 1)[-1] == "package.json"
            )
            opened = tar.extractfile(described)
            assert opened is not None
            return Package(licences.of_npm(opened.read().decode()), files)
    packaging = _debian_part(archive)
    assert packaging is not None
    with tarfile.open(packaging) as tar:
        try:
            opened = tar.extractfile("debian/copyright")
        except KeyError:
            opened = None
        text = opened.read().decode("utf-8", "replace") if opened else ""
    return Package(licences.of_debian(text), files)


def _tar_files(archive: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile() and _fits(member.size) and "/" in member.name:
                opened = tar.extractfile(member)
                if opened is not None:
                    yield member.name.removeprefix("./").split("/", 1)[-1], opened.read()


def _fits(size: int) -> bool:
    return _SMALLEST <= size <= _LARGEST


def npm_name(archive: Path) -> tuple[str, str]:
    """Name and version of an npm package."""
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.name.count("/") == 1 and member.name.endswith("/package.json"):
                opened = tar.extractfile(member)
                assert opened is not None
                described = json.loads(opened.read())
                return described["name"], described["version"]
    raise ValueError(f"no package.json in {archive}")
