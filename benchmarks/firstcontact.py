"""The first questions on a repository that was never indexed, through a real MCP client.

    python benchmarks/firstcontact.py REPOSITORY [QUESTIONS]

Picks names that are defined once in the whole tree, spread evenly over its paths (told by
patterns of its own, not by codelens), starts `codelens serve` on a new home, and asks `cl_search`
for one after the other as soon as the client is connected. An answer is right if its first result
is the file that defines the name. A receipt is true if it counts the repository's files and, while
it says `fresh`, has nothing pending. Times are wall times: compare them on one machine only.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from mcp import StdioServerParameters, stdio_client
from mcp.client import Client

_DEFINES = re.compile(
    rb"^[ \t]*(?:export |public |static |async |abstract |final |pub(?:\([a-z]+\))? )*"
    rb"(?:def|class|func|fn|function|struct|interface|trait|enum) (\w{8,})\b",
    re.MULTILINE,
)
_SUFFIXES = (".py", ".js", ".ts", ".go", ".rs", ".java", ".php", ".rb", ".kt", ".cs", ".swift")


def definitions(root: Path) -> list[tuple[str, str]]:
    """Names defined once, with their file, by path."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True
    ).stdout.split(b"\0")
    places: dict[str, list[str]] = defaultdict(list)
    for path in (os.fsdecode(one) for one in listed if one):
        file = root / path
        if path.endswith(_SUFFIXES) and file.is_file() and not file.is_symlink():
            for name in _DEFINES.findall(file.read_bytes()):
                places[name.decode()].append(path)
    once = [(found[0], name) for name, found in places.items() if len(found) == 1]
    return sorted(once)


def spread(found: list[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    """So many of them, at even distances."""
    return [found[(2 * at + 1) * len(found) // (2 * count)] for at in range(count)]


async def ask(root: Path, asked: list[tuple[str, str]], files: int) -> None:
    """Ask and print a line each."""
    right = true = 0
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "CODELENS_HOME": home}
        server = StdioServerParameters(
            command=sys.executable, args=["-P", "-m", "codelens", "serve"], env=env, cwd=root
        )
        began = time.perf_counter()
        async with Client(stdio_client(server)) as client:
            print(f"connected after {time.perf_counter() - began:.2f} s")
            # The others ask for 20 names that mean nothing else; this order is that of a shuffle.
            for path, name in sorted(asked, key=lambda one: hash_of(one[1])):
                start = time.perf_counter()
                answer = await client.call_tool("cl_search", {"query": name})
                lines = answer.content[0].text.splitlines()
                first = next((line for line in lines[1:] if not line.startswith("note:")), "")
                good = first.startswith(f"{path}#") and name in first.split()[0]
                receipt = lines[0]
                honest = f"{files:,} files checked" in receipt and (
                    "[fresh" not in receipt or "pending" not in receipt
                )
                right, true = right + good, true + honest
                took = time.perf_counter() - start
                print(f"{'ok  ' if good else 'MISS'} {took:5.2f} s  {name}  {receipt[:150]}")
                if not good:
                    print(f"     wanted {path}, got {first[:120]}")
        print(f"{right} of {len(asked)} right at the first question, {true} receipts true, "
              f"{time.perf_counter() - began:.1f} s in all")  # fmt: skip


def hash_of(name: str) -> int:
    """An order that is the same each time and has nothing to do with the paths."""
    return sum(ord(char) * (at + 7) ** 3 for at, char in enumerate(name)) % 9973


def main() -> None:
    """See the module."""
    root = Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=root, capture_output=True, check=True
    ).stdout.split(b"\0")
    paths = [root / os.fsdecode(one) for one in listed if one]
    files = sum(path.is_file() and not path.is_symlink() for path in paths)
    found = definitions(root)
    print(f"{files:,} files, {len(found):,} names defined once")
    asyncio.run(ask(root, spread(found, count), files))


if __name__ == "__main__":
    main()
