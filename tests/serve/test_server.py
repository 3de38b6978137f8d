"""The MCP server, asked by the SDK's own client and by plain JSON-RPC lines."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from gitrepo import GitRepo
from mcp import StdioServerParameters, stdio_client
from mcp.client import Client
from mcp_types import CallToolResult, ListRootsResult, Root
from mcplines import COMMAND, HELLO, Lines

from codelens.engine import within

AUTH = '''\
class Session:
    """A session."""

    def validate(self, token):
        """Tell whether the token holds."""
        return bool(token)


def login(name):
    return Session()
'''


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("first", {"src/auth.py": AUTH, "README.md": "# Top\n\nLanterns.\n"})
    return made


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {
        "CODELENS_HOME": str(tmp_path_factory.mktemp("home")),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }


class Asker:
    """A client, asked without `await`."""

    def __init__(self, portal, client: Client, root: Path | None = None) -> None:
        self._portal, self._client = portal, client
        self._path = {"path": str(root)} if root else {}

    def at(self, root: Path) -> Asker:
        """The same client, asking about a worktree."""
        return Asker(self._portal, self._client, root)

    def result(self, tool: str, **given: object) -> CallToolResult:
        arguments = {**self._path, **given}

        async def ask() -> CallToolResult:
            return await self._client.call_tool(tool, arguments)

        return self._portal.call(ask)

    def text(self, tool: str, **arguments: object) -> str:
        found = self.result(tool, **arguments)
        assert not found.is_error, found
        assert found.structured_content is None
        return found.content[0].text

    def error(self, tool: str, **arguments: object) -> str:
        found = self.result(tool, **arguments)
        assert found.is_error, found
        return found.content[0].text

    def tools(self) -> dict:
        async def ask():
            return await self._client.list_tools()

        return {tool.name: tool for tool in self._portal.call(ask).tools}

    @property
    def instructions(self) -> str:
        return self._client.instructions or ""


@contextmanager
def client(
    env: dict[str, str], *args: str, cwd: Path | str = "/", mode: str = "auto", **options
) -> Iterator[Asker]:
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        server = StdioServerParameters(
            command=COMMAND[0], args=[*COMMAND[1:], *args], env=env, cwd=cwd
        )
        connection = Client(stdio_client(server), mode=mode, **options)
        yield Asker(portal, stack.enter_context(portal.wrap_async_context_manager(connection)))


@pytest.fixture(scope="module")
def running(env: dict[str, str]) -> Iterator[Asker]:
    """One server for most tests: starting one costs a second."""
    with client(env, "--budget", "60000") as found:
        yield found


@pytest.fixture
def asker(running: Asker, repo: GitRepo) -> Asker:
    return running.at(repo.root)


def test_every_tool_says_what_it_answers_and_that_it_only_reads(asker: Asker) -> None:
    tools = asker.tools()
    assert set(tools) == {
        "cl_search", "cl_expand", "cl_outline", "cl_map", "cl_related", "cl_impact", "cl_current",
    }  # fmt: skip
    for tool in tools.values():
        assert tool.description.split(". ")[0].partition("?")[1] == "?"
        assert tool.output_schema is None
        assert tool.annotations.read_only_hint and tool.annotations.idempotent_hint
        assert tool.annotations.open_world_hint is False
        assert "path" in tool.input_schema["properties"]
        assert ("ref" in tool.input_schema["properties"]) == (tool.name != "cl_current")
    assert "cl_expand" in asker.instructions


def test_the_graph_tools_answer_in_lines_and_in_json(asker: Asker, repo: GitRepo) -> None:
    repo.write("src/use.py", "from auth import Session\n\n\ndef go():\n    return Session()\n")
    text = asker.text("cl_related", target="Session", kinds="callers")
    assert "\ncalled by (2)\n" in text
    assert "\n  src/use.py#go  4-5  at :5" in text
    assert json.loads(asker.text("cl_related", target="Session", format="json"))["totals"]
    assert "src/use.py#go" in asker.text("cl_impact", targets="Session")
    assert "added  src/use.py#go" in asker.text("cl_impact", diff="HEAD")
    assert "src/auth.py" in asker.text("cl_map", max_tokens=500)
    short = asker.text("cl_map", max_tokens=200, format="json")
    assert len(json.loads(short)["results"]) <= 1


@pytest.mark.parametrize("form", ["concise", "json"])
def test_an_answer_keeps_to_its_tokens_and_tells_what_was_left_out(
    asker: Asker, repo: GitRepo, form: str
) -> None:
    repo.write("many.py", "".join(f"def lantern_{at}():\n    pass\n\n\n" for at in range(300)))
    repo.write_all({f"f{at}.py": f"def f{at}(): return 'oil lamp'\n" for at in range(50)})
    asked = {"query": "oil lamp", "mode": "text", "limit": 50, "format": form}
    text = asker.text("cl_search", **asked, max_tokens=400)
    assert len(text.encode()) <= 3 * 400
    assert "more" in (json.loads(text) if form == "json" else text.splitlines()[-1])
    text = asker.text("cl_outline", target="many.py", max_tokens=400)
    assert len(text.encode()) <= 3 * 400
    assert text.splitlines()[-1].endswith("call cl_outline with a higher max_tokens or on a part")


def test_a_long_text_is_cut_by_lines_and_says_how_to_go_on(asker: Asker, repo: GitRepo) -> None:
    repo.write("long.txt", "".join(f"row {at}\n" for at in range(1, 5001)))
    text = asker.text("cl_expand", handles=["long.txt", "src/auth.py"], max_tokens=400)
    assert len(text.encode()) <= 3 * 400
    body, more = text.splitlines()[-2:]
    assert more == '1 more: call cl_expand with handles ["src/auth.py"]'
    last = int(body.split("after line ")[1].split(";")[0])
    assert f"row {last}\n" in text and f"row {last + 1}\n" not in text
    assert f"go on with long.txt:{last + 1}-" in body


def test_one_line_longer_than_the_answer_is_cut_inside(asker: Asker, repo: GitRepo) -> None:
    repo.write("min.js", f"var a={'1+' * 50_000}1;")
    text = asker.text("cl_expand", handles=["min.js"], max_tokens=400)
    assert len(text.encode()) <= 3 * 400
    assert "[line cut]" in text
    assert "line 1 is too long and was cut" in text and "go on with" not in text
    repo.write("min.js", f"var a={'1+' * 50_000}1;\nlast();\n")
    text = asker.text("cl_expand", handles=["min.js"], max_tokens=400)
    assert text.splitlines()[-1].endswith("go on with min.js:2")
    assert "last();" in asker.text("cl_expand", handles=["min.js:2"])


def test_a_full_page_claims_nothing_about_more(asker: Asker) -> None:
    text = asker.text("cl_search", query="login", limit=1)
    assert "more" not in text.splitlines()[-1]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("cl_expand", {"handles": ["a"] * 101},
         "handles takes at most 100 a call, not 101; split them over calls."),
        ("cl_expand", {"handles": []},
         'handles is empty; give at least 1, such as ["src/auth.py#Session.validate"].'),
        ("cl_expand", {"handles": ["a", None]}, "handles must be a list of strings such as "
         '["src/auth.py#Session.validate"], not with null.'),
        ("cl_expand", {"handles": None}, "cl_expand needs handles, a list of strings such as"),
        ("cl_expand", {}, "cl_expand needs handles, a list of strings such as"),
        ("cl_outline", {"targets": "a"},
         "cl_outline has no argument 'targets'; did you mean target? It takes target, path,"),
        ("cl_search", {"query": "x", "limit": 0},
         "limit must be a whole number from 1 to 100, such as 10, not 0."),
        ("cl_search", {"query": "x", "limit": True},
         "limit must be a whole number from 1 to 100, such as 10, not true."),
        ("cl_search", {"query": "x", "limit": "many"},
         "limit must be a whole number from 1 to 100, such as 10, not 'many'."),
        ("cl_search", {"query": "x", "mode": "psychic"},
         "mode must be one of auto, symbol, text, regex, path, not 'psychic'."),
        ("cl_search", {"query": ["a", "b"]},
         "query must be a string such as \"parse cookies\", not ['a', 'b']."),
        ("cl_search", {"query": "x", "words": "python"},
         "cl_search has no argument 'words'; it takes query, mode, languages, globs,"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_told_in_a_sentence(
    asker: Asker, tool: str, arguments: dict, said: str
) -> None:
    text = asker.error(tool, **arguments)
    assert text.startswith(said)
    assert "http" not in text and "\n" not in text


def test_null_for_an_argument_that_may_be_left_out_counts_as_left_out(asker: Asker) -> None:
    plain = asker.text("cl_search", query="login", format="json")
    nulls = dict.fromkeys(("mode", "languages", "globs", "kinds", "content", "limit", "ref"))
    told = asker.text("cl_search", query="login", format="json", max_tokens=None, **nulls)
    assert json.loads(told)["results"] == json.loads(plain)["results"]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("cl_search", {"query": ""}, "empty"),
        ("cl_search", {"query": "x", "path": "/no/such/place"}, "no such path"),
        ("cl_search", {"query": "x", "path": "repo"}, "must be absolute"),
        ("cl_search", {"query": "x", "path": "/"}, "pass path"),
        ("cl_search", {"query": "x", "ref": "nosuch"}, "nosuch"),
        ("cl_search", {"query": "x", "mode": "psychic"}, "mode"),
        ("cl_search", {"query": "x", "lang": "python"}, "lang"),
        ("cl_search", {}, "query"),
        ("cl_search", {"query": "(", "mode": "regex"}, "pattern"),
        ("cl_outline", {"target": "src/auht.py"}, "src/auth.py"),
        ("cl_outline", {"target": "../outside"}, "outside the worktree"),
        ("cl_expand", {"handles": []}, "handles"),
    ],
)
def test_an_error_is_a_tool_error_that_tells_what_to_do(
    asker: Asker, tool: str, arguments: dict, said: str
) -> None:
    text = asker.error(tool, **arguments)
    assert said in text
    assert "Traceback" not in text


@pytest.mark.parametrize("query", ['"; DROP TABLE', "a\0b", "🙂" * 300, "x" * 10_000, "NEAR( OR *"])
def test_a_hostile_query_is_answered_or_refused(asker: Asker, query: str) -> None:
    assert "unexpected" not in asker.result("cl_search", query=query).content[0].text


def test_the_worktree_is_worked_out_at_every_call(asker: Asker, repo: GitRepo) -> None:
    assert "src/auth.py#login" in asker.text("cl_search", query="login")
    nested = repo.worktree(repo.root / ".worktrees/x", branch="second")
    nested.write("src/auth.py", "def enter():\n    pass\n")
    text = asker.text("cl_search", query="enter", path=str(nested.root / "src"))
    assert "second@" in text and "src/auth.py#enter" in text
    assert "main@" in asker.text("cl_search", query="login")


def test_the_working_directory_is_asked_where_nothing_else_is_named(
    env: dict[str, str], repo: GitRepo
) -> None:
    with client(env, cwd=repo.root / "src") as asker:
        assert f"where: {repo.root} " in asker.text("cl_current")


def test_the_root_option_says_where_to_look(env: dict[str, str], repo: GitRepo) -> None:
    with client(env, "--root", str(repo.root / "src")) as asker:
        assert f"where: {repo.root} " in asker.text("cl_current")


@pytest.mark.parametrize("root", ["${workspaceFolder}", "/no/such/place"])
def test_a_root_that_is_none_is_passed_over_for_the_hosts_variable(
    env: dict[str, str], repo: GitRepo, root: str
) -> None:
    named = {**env, "CLAUDE_PROJECT_DIR": str(repo.root)}
    with client(named, "--root", root) as asker:
        assert f"where: {repo.root} " in asker.text("cl_current")


def test_the_clients_roots_say_where_to_look(env: dict[str, str], repo: GitRepo) -> None:
    async def roots(_: object) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=repo.root.as_uri())])

    with client(env, mode="legacy", list_roots_callback=roots) as asker:
        assert f"where: {repo.root} " in asker.text("cl_current")


def test_a_refused_folder_says_to_pass_a_path(env: dict[str, str]) -> None:
    with client(env, cwd="/") as asker:
        text = asker.error("cl_current")
    assert "/ is the root of the file system" in text
    assert "pass path, an absolute path inside the one" in text
    assert "-C" not in text


def test_a_bare_repository_says_to_pass_a_ref(asker: Asker, tmp_path: Path, repo: GitRepo) -> None:
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    text = asker.error("cl_search", query="login", path=str(tmp_path / "bare.git"))
    assert text.endswith("pass ref, a branch, tag or commit")


def test_every_byte_on_stdout_is_json_rpc(env: dict[str, str], repo: GitRepo) -> None:
    lines = Lines(env, repo.root)
    assert lines.ask(1, "initialize", HELLO)["result"]["serverInfo"]["name"] == "codelens"
    lines.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    assert len(lines.ask(2, "tools/list")["result"]["tools"]) == 7
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


def test_the_process_ends_when_stdin_closes_in_the_midst_of_a_call(
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
        told = json.loads(answer["result"]["content"][0]["text"])
        assert told["query"] == ["\ufffd", "\ufffd login", r"\ud800", "\U0001f642"][number - 2]
    assert lines.end() == (0, b"")


@pytest.mark.parametrize("form", ["concise", "detailed", "json"])
@pytest.mark.parametrize("max_tokens", [250, 400, 900])
def test_the_graph_tools_keep_to_max_tokens(
    asker: Asker, repo: GitRepo, form: str, max_tokens: int
) -> None:
    body = "".join(
        f"def user_of_sessions_number_{at}(one: Session) -> None:\n    Session({at})\n\n\n"
        for at in range(60)
    )
    repo.write("src/many.py", f"from src.auth import Session\n\n\n{body}")
    tests = body.replace("user", "test")
    repo.write("tests/test_many.py", f"from src.auth import Session\n\n\n{tests}")
    limits = {"format": form, "max_tokens": max_tokens}
    for tool, arguments in (
        ("cl_related", {"target": "Session", "limit": 500}),
        ("cl_impact", {"targets": "Session", "limit": 500}),
        ("cl_impact", {"diff": "HEAD"}),
        ("cl_map", {}),
    ):
        text = asker.text(tool, **arguments, **limits)
        assert within.cost_of(text) <= max_tokens, tool
        if form == "json":
            found = json.loads(text)
            assert "receipt" in found
            if "limit" in arguments:
                assert found["more"]["results"] > 0
        elif "limit" in arguments:
            assert f"more: call {tool} with" in text.splitlines()[-1]


def test_relations_that_there_are_not_are_told_with_those_that_there_are(asker: Asker) -> None:
    failed = asker.error("cl_related", target="Session", kinds=["bogus"])
    assert failed == (
        "kinds must be a list of callers, callees, users, uses, importers, imports, bases, "
        "subtypes, overrides, overridden, tests, not with 'bogus'."
    )
    assert "direction" in asker.error(
        "cl_related", target="Session", kinds=["callers"], direction="out"
    )


def test_search_gives_handles_under_a_receipt(asker: Asker, repo: GitRepo) -> None:
    head, first, *_ = asker.text("cl_search", query="validate").splitlines()
    assert head.startswith(f"[fresh · main@{repo.head()[:7]} · 2 files checked")
    assert str(repo.root) in head
    place = "src/auth.py#Session.validate"
    assert first == f"{place}\t4-6 method def validate(self, token) (defines it)"
    assert "def validate" in asker.text("cl_expand", handles=[first.split("\t")[0]])


def test_search_in_detail_tells_why(asker: Asker) -> None:
    assert "score" in asker.text("cl_search", query="validate", format="detailed")


def test_a_name_that_is_defined_is_followed_by_few_others(asker: Asker, repo: GitRepo) -> None:
    repo.write_all({f"use{at}.py": f"import auth\nvalidate({at})\n" for at in range(8)})
    rows = asker.text("cl_search", query="validate").splitlines()
    assert len(rows) == 6
    assert rows[-1] == "5 more that do not define it: call cl_search with format detailed"
    assert len(json.loads(asker.text("cl_search", query="validate", format="json"))["results"]) == 9
    assert "more" not in asker.text("cl_search", query="validate", format="detailed")


def test_search_as_json_is_what_the_command_line_gives(asker: Asker, repo: GitRepo, env) -> None:
    told = json.loads(asker.text("cl_search", query="validate", format="json"))
    command = [*COMMAND[:-1], "search", "validate", "--json", "-C", str(repo.root)]
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, check=True)
    assert told["results"] == json.loads(done.stdout)["results"]


def test_nothing_found_is_no_error(asker: Asker) -> None:
    assert "nothing found" in asker.text("cl_search", query="zzyzx_quux")


def test_expand_reads_many_handles_and_names_the_one_it_cannot(asker: Asker) -> None:
    text = asker.text("cl_expand", handles=["src/auth.py#login", "README.md:1", "logn"])
    assert "==> src/auth.py#login  src/auth.py:9-10\ndef login(name):\n    return Session()" in text
    assert "==> README.md:1  README.md:1\n# Top" in text
    assert "ERROR 'logn'" in text and "src/auth.py#login" in text.rpartition("ERROR")[2]


def test_expand_of_nothing_that_exists_is_an_error(asker: Asker) -> None:
    assert "src/auth.py#login" in asker.error("cl_expand", handles=["src/auth.py#logn"])


def test_one_handle_may_be_given_without_a_list(asker: Asker) -> None:
    assert "def login" in asker.text("cl_expand", handles="src/auth.py#login")


def test_outline_folds(asker: Asker) -> None:
    text = asker.text("cl_outline", target="src/auth.py")
    assert "src/auth.py  python, 10 lines, ~" in text
    assert "  4-6    def validate(self, token)  -- Tell whether the token holds." in text
    assert "src/  1 file, ~" in asker.text("cl_outline")


def test_current_tells_where_it_stands(asker: Asker, repo: GitRepo) -> None:
    text = asker.text("cl_current")
    assert f"where: {repo.root} (worktree)" in text
    assert json.loads(asker.text("cl_current", format="json"))["status"]["branch"] == "main"


def test_a_ref_is_read_without_a_checkout(asker: Asker, repo: GitRepo) -> None:
    repo.git("tag", "v1")
    repo.commit("second", {"src/auth.py": "def log_in(): pass\n"})
    assert "v1:src/auth.py#login" in asker.text("cl_search", query="login", ref="v1")
    assert "def login" in asker.text("cl_expand", handles=["v1:src/auth.py#login"])
    assert "def login" in asker.text("cl_outline", target="src/auth.py", ref="v1")
    assert "def login" in asker.text("cl_outline", target="v1:src/auth.py")
