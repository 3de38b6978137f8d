"""The MCP server, asked by the SDK's own client and by plain JSON-RPC lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gitrepo import GitRepo
from mcp_lines import HELLO, Lines
from mcp_types import ListRootsResult, Root
from pydantic import FileUrl
from sdk_client import Asker, client


def test_every_tool_says_what_it_answers_and_that_it_only_reads(asker: Asker) -> None:
    tools = asker.tools()
    assert set(tools) == {
        "cl_search", "cl_explore", "cl_expand", "cl_outline", "cl_map", "cl_related",
        "cl_references", "cl_impact",
        "cl_branches", "cl_current",
    }  # fmt: skip
    for tool in tools.values():
        assert tool.description.split(". ")[0].partition("?")[1] == "?"
        assert tool.output_schema is None
        assert tool.annotations.read_only_hint and not tool.annotations.destructive_hint
        assert tool.annotations.open_world_hint is False
        assert "path" in tool.input_schema["properties"]
        has_ref = tool.name not in {"cl_branches", "cl_current"}
        assert ("ref" in tool.input_schema["properties"]) == has_ref
    assert "cl_expand" in asker.instructions


@pytest.mark.slow
def test_the_worktree_is_worked_out_at_every_call(asker: Asker, repo: GitRepo) -> None:
    assert "src/auth.py#login" in asker.text("cl_search", query="login")
    nested = repo.worktree(repo.root / ".worktrees/x", branch="second")
    nested.write("src/auth.py", "def enter():\n    pass\n")
    text = asker.text("cl_search", query="enter", path=str(nested.root / "src"))
    assert "second@" in text and "src/auth.py#enter" in text
    assert "main@" in asker.text("cl_search", query="login")


@pytest.mark.slow
def test_the_working_directory_is_asked_where_nothing_else_is_named(
    env: dict[str, str], repo: GitRepo
) -> None:
    with client(env, cwd=repo.root / "src") as asker:
        assert f"where: {repo.root} " in asker.text("cl_current")


@pytest.mark.slow
def test_the_root_option_says_where_to_look(env: dict[str, str], repo: GitRepo) -> None:
    with client(env, "--root", str(repo.root / "src")) as asker:
        assert f"where: {repo.root} " in asker.text("cl_current")


@pytest.mark.slow
@pytest.mark.parametrize("root", ["${workspaceFolder}", "/no/such/place"])
def test_an_invalid_root_is_skipped_for_the_hosts_variable(
    env: dict[str, str], repo: GitRepo, root: str
) -> None:
    named = {**env, "CLAUDE_PROJECT_DIR": str(repo.root)}
    with client(named, "--root", root) as asker:
        assert f"where: {repo.root} " in asker.text("cl_current")


@pytest.mark.slow
def test_the_clients_roots_say_where_to_look(env: dict[str, str], repo: GitRepo) -> None:
    async def roots(_: object) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=FileUrl(repo.root.as_uri()))])

    with client(env, mode="legacy", list_roots_callback=roots) as asker:
        assert f"where: {repo.root} " in asker.text("cl_current")


def test_a_refused_folder_says_to_pass_a_path(env: dict[str, str]) -> None:
    with client(env, cwd="/") as asker:
        text = asker.error("cl_current")
    assert "/ is the root of the file system" in text
    assert "pass `path`, an absolute path inside the one" in text
    assert "-C" not in text


def test_a_bare_repository_says_to_pass_a_ref(asker: Asker, tmp_path: Path, repo: GitRepo) -> None:
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    text = asker.error("cl_search", query="login", path=str(tmp_path / "bare.git"))
    assert text.endswith("pass ref, a branch, tag or commit, or the path of a worktree")


@pytest.mark.slow
def test_every_byte_on_stdout_is_json_rpc(env: dict[str, str], repo: GitRepo) -> None:
    lines = Lines(env, repo.root)
    assert lines.ask(1, "initialize", HELLO)["result"]["serverInfo"]["name"] == "codelens"
    lines.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    assert len(lines.ask(2, "tools/list")["result"]["tools"]) == 10
    for number, tool, arguments in [
        (3, "cl_search", {"query": "login"}),
        (4, "cl_search", {"query": "login", "path": "/no/such"}),
        (5, "cl_expand", {"handles": ["src/auth.py", "nosuch"]}),
        (6, "cl_outline", {}),
        (7, "cl_current", {}),
        (8, "cl_nosuch", {}),
    ]:
        answer = lines.ask(number, "tools/call", {"name": tool, "arguments": arguments})
        assert answer["id"] == number
    assert lines.end() == (0, b"")


def test_the_process_ends_when_stdin_closes(env: dict[str, str], repo: GitRepo) -> None:
    lines = Lines(env, repo.root)
    lines.ask(1, "initialize", HELLO)
    assert lines.end() == (0, b"")


def test_the_process_ends_when_stdin_closes_during_a_call(
    env: dict[str, str], repo: GitRepo
) -> None:
    repo.write_all({f"f{at}.py": f"def f{at}(): return {at}\n" * 400 for at in range(400)})
    lines = Lines(env, repo.root, "--budget", "600000")
    lines.ask(1, "initialize", HELLO)
    lines.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    call = {"name": "cl_search", "arguments": {"query": "f1"}}
    lines.send(
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}).encode()
    )
    code, _ = lines.end()
    assert code == 0


@pytest.mark.slow
def test_half_a_surrogate_pair_gets_its_answer(env: dict[str, str], repo: GitRepo) -> None:
    lines = Lines(env, repo.root)
    lines.ask(1, "initialize", HELLO)
    lines.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    for number, query in enumerate(
        [rb"\ud800", rb"\uDC00 login", rb"\\ud800", rb"\ud83d\ude42"], 2
    ):
        lines.send(
            b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"cl_search",'
            b'"arguments":{"format":"json","query":"%s"}}}' % (number, query)
        )
        answer = lines.next()
        assert answer["id"] == number
        answered = json.loads(answer["result"]["content"][0]["text"])
        assert answered["query"] == ["\ufffd", "\ufffd login", r"\ud800", "\U0001f642"][number - 2]
    assert lines.end() == (0, b"")


@pytest.mark.slow
def test_a_tool_that_is_not_listed_says_how_to_have_it(env: dict[str, str], repo: GitRepo) -> None:
    with client(env, cwd=repo.root) as asker:
        assert "cl_save" not in asker.tools()
        text = asker.error("cl_save", name="x", note="y")
        assert text.startswith("cl_save is not a tool of this server; to enable it, set ")
        assert "CODELENS_TOOLS=all" in text
        assert asker.error("cl_nonsense") == "Unknown tool: cl_nonsense"
