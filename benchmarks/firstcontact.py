"""Asks the first questions on a repository that was never indexed, through a real MCP client.

    python benchmarks/firstcontact.py REPOSITORY [--questions 20]
    python benchmarks/firstcontact.py REPOSITORY --node FOLDER

With `--node` the client is that of the TypeScript SDK; FOLDER is where `npm install
@modelcontextprotocol/sdk` was run. Otherwise it is that of the Python SDK.

Picks names that are defined once in the whole tree, spread evenly over its paths (by its own
patterns, not by codelens). It starts `codelens serve` on a new home and asks `cl_search` for one
name after the other as soon as the client is connected. An answer is right if its first result is
the file that defines the name. A wrong answer is silent if its receipt does not say that files were
not searched: there must be none, whatever the load. A receipt is correct if it counts the
repository's files and, while it says `fresh`, has nothing pending. Times are wall times: compare
them on one machine only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import StdioServerParameters, stdio_client
from mcp.client import Client
from mcp.types import TextContent

_DEFINES = re.compile(
    rb"^[ \t]*(?:export |public |static |async |abstract |final |pub(?:\([a-z]+\))? )*"
    rb"(?:def|class|func|fn|function|struct|interface|trait|enum) (\w{8,})\b",
    re.MULTILINE,
)
_DEFINES_C = re.compile(
    rb"^(?:[A-Za-z_][\w \t]*[ \t*]|)(?:(\w{8,})\((?:[^(){};]|\([^(){};]*\))*\)\s*\n\{"
    rb"|(?<=struct )(\w{8,}) \{$)",
    re.MULTILINE,
)
"""A function whose opening brace starts a line, and a struct."""
_SUFFIXES_C = (".c", ".h")
_LARGEST = 1_000_000
"""Bytes of the largest file that is indexed by default."""
_SUFFIXES = (".py", ".js", ".ts", ".go", ".rs", ".java", ".php", ".rb", ".kt", ".cs", ".swift")


def definitions(root: Path) -> list[tuple[str, str]]:
    """Names defined once, with their file, sorted by path."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True
    ).stdout.split(b"\0")
    places: dict[str, list[str]] = defaultdict(list)
    for path in (os.fsdecode(path) for path in listed if path):
        file = root / path
        if not path.endswith(_SUFFIXES + _SUFFIXES_C) or file.is_symlink() or not file.is_file():
            continue
        if file.stat().st_size > _LARGEST:
            continue
        pattern = _DEFINES_C if path.endswith(_SUFFIXES_C) else _DEFINES
        for match in pattern.finditer(file.read_bytes()):
            places[match[match.lastindex or 0].decode()].append(path)
    once = [(found[0], name) for name, found in places.items() if len(found) == 1]
    return sorted(once)


def spread(found: list[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    """Picks `count` items at even distances."""
    return [found[(2 * at + 1) * len(found) // (2 * count)] for at in range(count)]


Ask = Callable[[str], Awaitable[str]]
"""Maps a query to the text of the tool's answer."""
_SERVE = ("-P", "-m", "codelens", "serve")


@asynccontextmanager
async def python_client(root: Path, env: dict[str, str]) -> AsyncIterator[Ask]:
    """The client of the Python SDK."""
    server = StdioServerParameters(command=sys.executable, args=list(_SERVE), env=env, cwd=root)
    async with Client(stdio_client(server)) as client:

        async def ask(query: str) -> str:
            answer = await client.call_tool("cl_search", {"query": query})
            (part,) = answer.content
            assert isinstance(part, TextContent)
            return part.text

        yield ask


@asynccontextmanager
async def node_client(root: Path, env: dict[str, str], folder: Path) -> AsyncIterator[Ask]:
    """The client of the TypeScript SDK, in a Node.js process."""
    script = Path(__file__).with_name("firstcontact_client.mjs")
    command = ["node", str(script), str(folder.resolve()), str(root), sys.executable, *_SERVE]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, env=env, stdin=pipe, stdout=pipe, limit=10_000_000
    )
    assert process.stdin is not None and process.stdout is not None
    reader, writer = process.stdout, process.stdin
    if not await reader.readline():
        raise SystemExit("the client did not connect; its error is above")

    async def ask(query: str) -> str:
        writer.write(json.dumps(query).encode() + b"\n")
        await writer.drain()
        return json.loads(await reader.readline())

    try:
        yield ask
    finally:
        writer.close()
        await process.wait()


async def run(root: Path, questions: list[tuple[str, str]], files: int, node: Path | None) -> None:
    """Asks, and prints a line for each question."""
    right = true = silent = 0
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "CODELENS_HOME": home}
        began = time.perf_counter()
        client = python_client(root, env) if node is None else node_client(root, env, node)
        async with client as ask:
            print(f"connected after {time.perf_counter() - began:.2f} s")
            # Hashing shuffles the names the same way each time.
            for path, name in sorted(questions, key=lambda question: hash_of(question[1])):
                start = time.perf_counter()
                receipt, *lines = (await ask(name)).splitlines()
                first = next((line for line in lines if not line.startswith("note:")), "")
                is_right = first.startswith(f"{path}#") and name in first.split()[0]
                is_true = f" {files:,} files checked" in receipt and (
                    "[fresh" not in receipt or "pending" not in receipt
                )
                is_silent = not is_right and not (
                    "[partial" in receipt and " not searched: ask again" in receipt
                )
                right, true, silent = right + is_right, true + is_true, silent + is_silent
                took = time.perf_counter() - start
                print(f"{'ok  ' if is_right else 'MISS'} {took:5.2f} s  {name}  {receipt[:150]}")
                if not is_right:
                    print(f"     wanted {path}, got {first[:120]}")
        seconds = time.perf_counter() - began
        print(
            f"{right} of {len(questions)} right at the first question, {silent} wrong and silent, "
            f"{true} receipts true, {seconds:.1f} s in all"
        )


def hash_of(name: str) -> int:
    """A reproducible sort key that does not depend on the order of paths."""
    return sum(ord(char) * (at + 7) ** 3 for at, char in enumerate(name)) % 9973


def main() -> None:
    """Runs the benchmark; see the module's docstring."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repository", type=Path)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--node", type=Path, help="folder with the TypeScript SDK: its client")
    args = parser.parse_args()
    root = args.repository.resolve()
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=root, capture_output=True, check=True
    ).stdout.split(b"\0")
    paths = [root / os.fsdecode(path) for path in listed if path]
    files = sum(path.is_file() and not path.is_symlink() for path in paths)
    found = definitions(root)
    print(f"{files:,} files, {len(found):,} names defined once")
    asyncio.run(run(root, spread(found, args.questions), files, args.node))


if __name__ == "__main__":
    main()
