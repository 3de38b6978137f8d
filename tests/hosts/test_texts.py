"""Generated configurations: other content stays, install is idempotent, and uninstall is exact."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from codelens.hosts.formats import entry_edits, json_edit, toml_edit, yaml_edit
from codelens.hosts.formats.config_formats import format_of
from codelens.hosts.formats.config_values import EditRefused, Value, at, has, without
from codelens.hosts.formats.entry_edits import Block, Entry
from codelens.hosts.install_ledger import Undo

COMMAND = r"C:\Users\mé\.local\bin\codelens.exe"
COMMENTS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|(//[^\r\n]*|/\*.*?\*/)', re.DOTALL)
LAUNCH = {"type": "stdio", "command": COMMAND, "args": ["serve"], "env": {"A": "1"}}


def entry(style: str, *keys: str) -> Entry:
    launch = {"name": "codelens", **LAUNCH} if style == "yaml-list" else LAUNCH
    return Entry(style, (*keys, "codelens"), COMMAND, launch, {"timeout": 30}, {})


names = st.text("abcdefgh_", min_size=1, max_size=6)
texts = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")) | st.sampled_from("\"\\/{}[],:#'")
)
scalars = st.none() | st.booleans() | st.integers(-9, 999) | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def documents(draw: st.DrawFn) -> dict:
    """Possible contents of a host's file, with or without other servers."""
    found = draw(st.dictionaries(names, values, max_size=4))
    if draw(st.booleans()):
        servers = draw(st.dictionaries(names, values, max_size=3))
        place = draw(st.integers(0, len(found)))
        items = list(found.items())
        found = dict([*items[:place], ("mcpServers", servers), *items[place:]])
    return found


@st.composite
def written(draw: st.DrawFn) -> str:
    """A document as JSONC: any layout, comments, trailing commas, line ends."""
    value = draw(documents())
    eol = draw(st.sampled_from(["\n", "\r\n"]))
    unit = draw(st.sampled_from(["  ", "    ", "\t", None]))
    plain = json.dumps(value, indent=unit, ensure_ascii=draw(st.booleans()))
    tokens = re.findall(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+|\s+', plain)
    comments = st.sampled_from(
        ["", "", "", "", "// x, {", '/* y } " */', "/* a\n b */", '// "mcpServers": {']
    )
    out: list[str] = []
    for number, token in enumerate(tokens):
        following = next((one for one in tokens[number + 1 :] if one.strip()), "")
        out.append(token)
        if (
            following in ("}", "]")
            and token.strip()
            and token not in "{[,:"
            and draw(st.booleans())
        ):
            out.append(",")
        comment = draw(comments) if unit and "\n" in token else ""
        if comment:
            out.append(f"{comment}\n" if comment.startswith("//") else f"{comment} ")
    tail = draw(st.sampled_from(["", "\n", "\n\n", " // end\n"]))
    return ("".join(out) + tail).replace("\n", eol)


def comments_of(text: str) -> list[str]:
    return [one for one in COMMENTS.findall(text) if one]


def parsed(text: str) -> dict[str, Value]:
    """A JSON text that is an object."""
    found = json_edit.parse(text, comments=True)
    assert isinstance(found, dict)
    return found


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(written())
def test_jsonc_keeps_all_foreign_content(text: str) -> None:
    edit = entry("jsonc", "mcpServers")
    before = parsed(text)
    after = edit.put(text)
    document = parsed(after)
    assert at(document, ("mcpServers", "codelens")) == {**LAUNCH, "timeout": 30}
    assert without(document, ("mcpServers", "codelens")) == {"mcpServers": {}, **before}
    assert list(document)[: len(before)] == list(before)
    assert comments_of(after) == comments_of(text)
    assert edit.put(after) == after
    assert ("\r\n" in after) == ("\r\n" in text) or "\n" not in text
    assert Undo.between(text.encode(), after.encode()).applied(after.encode()) == text.encode()


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(written(), names, values)
def test_jsonc_keeps_content_written_after_install(text: str, key: str, value: Value) -> None:
    edit = entry("jsonc", "mcpServers")
    made = edit.parents(text)
    other = ("mcpServers", f"other-{key}")
    with_both = json_edit.put(edit.put(text), other, value, comments=True)
    left = edit.take(with_both, made)
    assert left is not None
    before = parsed(text)
    document = json_edit.parse(left, comments=True)
    assert at(document, other) == value
    assert without(document, other) == {"mcpServers": {}, **before}
    assert comments_of(left) == comments_of(text)
    alone = json_edit.take(left, other, comments=True)
    assert alone is not None
    assert without(json_edit.parse(alone, comments=True), ("mcpServers",)) == without(
        before, ("mcpServers",)
    )


@settings(max_examples=200, deadline=None)
@given(written())
def test_jsonc_removal_without_a_ledger_preserves_the_meaning(text: str) -> None:
    edit = entry("jsonc", "mcpServers")
    made = edit.parents(text)
    left = edit.take(edit.put(text), made)
    assert left is not None
    assert json_edit.parse(left, comments=True) == json_edit.parse(text, comments=True)
    assert comments_of(left) == comments_of(text)


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "mcpServers": {\n    "x": {}\n  }\n}\n',
        '{\n  "mcpServers": {\n    "x": {}, // note\n    // "old": {}\n  },\n}\n',
        '{"mcpServers": {"x": {}}, "b": 1}',
        '{"mcpServers":{"x":{}}}',
        '{\r\n\t"mcpServers": {\r\n\t\t"x": 1\r\n\t}\r\n}',
        '{\n  "a": 1 /* z */,\n  "mcpServers": {}\n}',
    ],
)
def test_common_jsonc_is_restored_to_the_byte_even_without_a_ledger(text: str) -> None:
    edit = entry("jsonc", "mcpServers")
    assert edit.take(edit.put(text), edit.parents(text)) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1"),
        ("[]", "not an object"),
        ('{"mcpServers": []}', "mcpServers is not an object"),
        ('{"mcpServers": null}', "mcpServers is not an object"),
        ('{"mcpServers": {"codelens": {"url": "http://x"}}}', "does not start codelens"),
        ('{"a": 1 "b": 2}', "line 1"),
        ('{"a": ' + "[" * 100_000, "line 1|nested too deeply"),
    ],
)
def test_jsonc_that_cannot_be_edited_is_refused(text: str, said: str) -> None:
    with pytest.raises(EditRefused, match=said):
        entry("jsonc", "mcpServers").put(text)


def test_strict_json_refuses_comments_and_says_so() -> None:
    with pytest.raises(EditRefused, match="comments and trailing commas are not allowed"):
        entry("json", "mcpServers").put('{\n  // c\n  "a": 1\n}')


toml_scalars = st.booleans() | st.integers(-9, 999) | texts


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    """A TOML file with comments, headers inside strings, and servers in any of the forms."""
    lines: list[str] = []
    remark = st.sampled_from(["", "", "# note", "", "# [mcp_servers.codelens]"])

    def pairs(most: int) -> None:
        for name, value in draw(st.dictionaries(names, toml_scalars, max_size=most)).items():
            lines.append(draw(remark))
            lines.append(f"{name} = {json.dumps(value, ensure_ascii=False)}  {draw(remark)}")

    pairs(3)
    if draw(st.booleans()):
        lines.append('zz = """\n[mcp_servers.codelens]\ncommand = "no"\n"""')
    if draw(st.booleans()):
        lines.append('yy = [\n  ["a"],  # c\n  [\n"b"],\n]')
    form = draw(st.sampled_from(["none", "table", "inline", "dotted", "parent"]))
    if form == "inline":
        lines.append("mcp_servers = { q = { command = 'c' } }  # mine")
    if form == "dotted":
        lines.append("mcp_servers.q.command = 'c'")
    if form == "parent":
        lines.append("[mcp_servers]")
        lines.append("q = { command = 'c' } # d")
    if form == "table":
        lines += ["[mcp_servers.q]", "command = 'c'", "[mcp_servers.q.env]", "A = '1'"]
    for name in draw(st.lists(names, max_size=2, unique=True)):
        lines += ["", draw(remark), f"[t-{name}] {draw(remark)}"]
        pairs(2)
    for _ in range(draw(st.integers(0, 2))):
        lines += ["[[many]]", "k = 1"]
    end = draw(st.sampled_from(["", "\n", "\n\n"]))
    return ("\n".join(lines) + end).replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def toml_remarks(text: str) -> list[str]:
    return re.findall(r"# (?:note|mine|c|d)\b", text)


@settings(max_examples=300, deadline=None)
@given(toml_texts())
def test_toml_keeps_all_foreign_content(text: str) -> None:
    edit = entry("toml", "mcp_servers")
    before = tomllib.loads(text)
    after = edit.put(text)
    document = tomllib.loads(after)
    assert document["mcp_servers"]["codelens"] == {**LAUNCH, "timeout": 30}
    assert without(document, ("mcp_servers", "codelens")) == {"mcp_servers": {}, **before}
    assert toml_remarks(after) == toml_remarks(text)
    assert edit.put(after) == after
    left = edit.take(after, edit.parents(text))
    assert left is not None
    assert tomllib.loads(left) == before
    assert toml_remarks(left) == toml_remarks(text)
    if text.endswith("\n") and not re.search("mcp_servers( =|\\.q\\.)", text):
        assert left == text
    assert Undo.between(text.encode(), after.encode()).applied(after.encode()) == text.encode()


@settings(max_examples=100, deadline=None)
@given(toml_texts())
def test_toml_tables_appended_after_the_entry_stay(text: str) -> None:
    edit = entry("toml", "mcp_servers")
    theirs = "\n# theirs\n[other]\nk = 1 # kept\n"
    both = edit.put(text) + theirs
    left = edit.take(both, edit.parents(text))
    assert left is not None
    assert tomllib.loads(left) == {**tomllib.loads(text), "other": {"k": 1}}
    assert left.endswith("# theirs\n[other]\nk = 1 # kept\n")


def test_a_toml_entry_that_is_there_gets_the_new_program_and_keeps_the_rest() -> None:
    text = (
        "[mcp_servers.codelens] # mine\ncommand = '/old/codelens' # where\n"
        "args = ['serve', '--budget', '900']\nenv.A = 'b'\n"
    )
    after = entry("toml", "mcp_servers").put(text)
    assert after == text.replace("'/old/codelens'", f"'{COMMAND}'") + "type = 'stdio'\n"


def test_a_broken_toml_is_refused_with_its_line() -> None:
    with pytest.raises(EditRefused, match="line 2"):
        entry("toml", "mcp_servers").put("a = 1\nb = = 2\n")


@st.composite
def yaml_texts(draw: st.DrawFn, parent: str, listed: bool) -> str:
    """A YAML file with comments; the parent is missing, empty, or in block or flow style."""
    lines: list[str] = []
    remark = st.sampled_from(["", "", "# note"])
    quoted = st.text("abc :#'-", max_size=6).map(json.dumps)
    dash = draw(st.sampled_from(["", "  "]))

    def pairs() -> None:
        for name, value in draw(st.dictionaries(names, quoted, max_size=3)).items():
            lines.append(draw(remark))
            lines.append(f"p{name}: {value} {draw(remark)}".rstrip())

    pairs()
    form = draw(st.sampled_from(["none", "null", "block", "block", "flow", "bare"]))
    if form == "null":
        lines.append(f"{parent}:")
    if form == "bare":
        lines.append(f"{parent}: {'[]' if listed else '{}'} # note")
    if form == "flow":
        lines.append(f"{parent}: " + ("[{name: z, k: 1}]" if listed else "{z: {k: 1}}"))
    if form == "block":
        lines.append(f"{parent}: {draw(remark)}".rstrip())
        lines.append("# note")
        for name in draw(st.lists(names, min_size=1, max_size=3, unique=True)):
            if listed:
                lines += [f"{dash}- name: s{name} # note", f"{dash}  k:", f"{dash}    - 1", ""]
            else:
                lines += [f"  s{name}:", "    # note", "    k: |", "      # text", "      x", ""]
    pairs_after = draw(st.booleans())
    if pairs_after:
        lines += ["zz:", "  - 1", "  - a: 2 # note"]
    end = draw(st.sampled_from(["", "\n"]))
    return ("\n".join(lines) + end).replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def load(text: str) -> dict:
    return YAML(typ="safe", pure=True).load(text) or {}


@pytest.mark.slow
@pytest.mark.parametrize(("style", "parent"), [("yaml", "extensions"), ("yaml-list", "mcpServers")])
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_yaml_keeps_all_foreign_content(style: str, parent: str, data: st.DataObject) -> None:
    listed = style == "yaml-list"
    text = data.draw(yaml_texts(parent, listed))
    edit = entry(style, parent)
    parse = format_of(style).parse
    before, after = load(text), edit.put(text)
    keys = (parent, "codelens")
    assert has(parse(after, keys), keys)
    assert after.count("# note") == text.count("# note")
    left = edit.take(after, edit.parents(text))
    assert left is not None
    document = load(left)
    assert {**document, parent: document.get(parent) or None} == {
        **before,
        parent: before.get(parent) or None,
    }
    assert left.count("# note") == text.count("# note")
    assert edit.put(after) == after
    assert Undo.between(text.encode(), after.encode()).applied(after.encode()) == text.encode()
    if listed:
        assert load(after)[parent][0]["command"] == COMMAND


@pytest.mark.parametrize("text", ["a: [\n", "- a\n", "a: 1\n---\nb: 2\n", "\ta: 1\n"])
def test_yaml_that_cannot_be_edited_is_refused(text: str) -> None:
    with pytest.raises(EditRefused):
        entry("yaml", "extensions").put(text)


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab# \n\r"), max_size=30).map(lambda text: text.replace("\r", "")))
def test_lines_between_markers_come_and_go(text: str) -> None:
    block = Block("one\ntwo\n")
    after = block.put(text)
    assert after.startswith(text)
    assert block.put(after) == after
    assert Block("three").put(after).count("codelens:begin") == 1
    if text.endswith("\n") or not text:
        assert entry_edits.take_block(after) in (text, text.removesuffix("\n"))
    assert (
        block.take(after + "\nmore\n", ()) == entry_edits.take_block(after) + "\nmore\n"
        or text == ""
    )


@pytest.mark.parametrize(
    "text",
    [
        "<!-- codelens:begin -->\n",
        "<!-- codelens:end -->\n<!-- codelens:begin -->\n",
        "<!-- codelens:begin -->\n<!-- codelens:end -->\n" * 2,
    ],
)
def test_half_and_doubled_markers_are_refused(text: str) -> None:
    with pytest.raises(EditRefused, match="by hand"):
        entry_edits.put_block(text, "x")
    with pytest.raises(EditRefused, match="by hand"):
        entry_edits.take_block(text)


def test_the_shapes_of_toml_and_yaml_are_those_that_hosts_write() -> None:
    assert toml_edit.put("", ("m", "c"), {"command": COMMAND, "args": ["serve"]}) == (
        f"[m.c]\ncommand = '{COMMAND}'\nargs = ['serve']\n"
    )
    assert yaml_edit.put("", ("m", "c"), {"cmd": "/x", "args": ["serve"]}, named=False) == (
        "m:\n  c:\n    cmd: /x\n    args: [serve]\n"
    )
