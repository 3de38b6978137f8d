"""What a title points at, and what of a report is its template's."""

from __future__ import annotations

import pytest
from ranking_index import Store

from codelens.rank.query.task_text import (
    likeness,
    prose_and_code,
    signposts,
    without_template,
)


@pytest.mark.parametrize(
    ("title", "posts"),
    [
        ("fix(parser): keep the last token", [("parser",)]),
        ("fix(parser)!: keep the last token", [("parser",)]),
        ("fix(core,web): keep it", [("core",), ("web",)]),
        ("win: close the handle twice", [("win",)]),
        ("net/http: read the trailer", [("net", "http")]),
        ("packages/router: match an empty path", [("packages", "router")]),
        ("[ssr] escape the state", [("ssr",)]),
        ("[Bug]: printer: a comment is lost", [("printer",)]),
        ("Fix: ignore: skip the file", [("ignore",)]),
        ("my_crate: add a method\n\nbody: more", [("my_crate",)]),
        ("tanstack-query: it fails", [("tanstack-query",)]),
        ("fix: a thing", []),
        ("Add std::string to the list: twice", []),
        ("The retry ignores its time limit: it never ends", []),
        ("`Session.close(x): none`", []),
    ],
)
def test_a_title_points_at_places(title: str, posts: list[tuple[str, ...]]) -> None:
    assert list(signposts(title)) == posts


@pytest.mark.parametrize(
    ("post", "better", "worse"),
    [
        (("parser",), b"packages/socket.io-parser/lib/index.ts", b"packages/socket.io/lib/a.ts"),
        (("eio",), b"packages/engine.io/lib/server.ts", b"packages/socket.io/lib/server.ts"),
        (("http1",), b"src/proto/h1/io.rs", b"src/proto/h2/io.rs"),
        (("log",), b"modules/logging/filters.go", b"modules/http/filters.go"),
        (("net", "http"), b"src/net/http/server.go", b"src/log/http/server.go"),
        (("net", "http"), b"src/net/http/server.go", b"src/net/url/url.go"),
        (("YAML",), b"src/language-yaml/printer.js", b"src/language-css/printer.js"),
        (("walk",), b"crates/ignore/src/walk.rs", b"crates/ignore/src/dir.rs"),
    ],
)
def test_a_signpost_prefers_a_path(post: tuple[str, ...], better: bytes, worse: bytes) -> None:
    assert likeness([post], better) > likeness([post], worse)


def test_the_part_that_a_title_names_comes_first(store: Store) -> None:
    text = "def flush(buffer):\n    '''Write the buffer, then close.'''\n    buffer.close()\n"
    view = store.view({"src/a/zlib.py": text, "src/proto/http/zlib.py": text + "\n# flush\n"})
    for part, path in (("a", "src/a/zlib.py"), ("http", "src/proto/http/zlib.py")):
        first = store.search(view, f"fix({part}): flush the buffer before close").results[0]
        assert first.file.path.decode() == path


REPORT = """The retry never ends
<!-- Thank you! Please search for
existing issues. -->
### Describe the bug
Calling `retry()` hangs, see https://github.com/o/r/blob/main/src/net/retry.py#L12-L14.
- [x] I have searched the existing issues
- [ ] the second attempt
**Expected behavior**
It ends after [three](https://example.com/three) attempts.
## The clock of the retry
```python
# Version: 3
retry(times=3)
```
- Python version: 3.11
### Additional context
_No response_
"""
WITHOUT = """The retry never ends

Calling `retry()` hangs, see src/net/retry.py:12.
- [ ] the second attempt
It ends after three attempts.
## The clock of the retry
```python
# Version: 3
retry(times=3)
```
"""


def test_a_report_is_read_without_its_template() -> None:
    assert without_template(REPORT) == WITHOUT
    assert without_template("One line <!-- a -->") == "One line <!-- a -->"
    assert without_template("Title\n<!-- nothing else -->") == "Title"


@pytest.mark.parametrize(
    "lines",
    [
        "### Environment\n\n- lark 1.3.1\nGentoo, a virtual machine\nno plugins at all",
        "**Desktop (please complete the following information):**\n - Phone: none",
        "### Exact Redmine version\n\nthe newest",
        "## Technical details\nCPU: eight cores\n```\ncolor_system = 'truecolor'\n```",
        "Environment:\n  Ruby version    3.3.7-p123\n  Mailer queue    async",
        "### What version of Hono are you using?\n\n4.11.3",
        "### What steps can reproduce the bug?",
        "PocketBase 0.23.1, Docker (alpine), Firefox",
        "go version go1.24.1 linux/amd64",
        "| Q | A\n|---|---\n| PHP version | 8.4.11",
        "```\nPackage   Version\n--------- -------\niniconfig 2.0.0\npluggy    1.5.0\n```",
        "Please answer the following questions for yourself before submitting an issue.",
        "- [x] pytest and operating system versions",
        "<details>\n<summary>Click to expand</summary>\n</details>",
    ],
)
def test_surroundings_and_requests_of_a_template_are_left_out(lines: str) -> None:
    left = without_template(f"The lamp stays dark\n{lines}\n### Expected behavior\nIt is lit.")
    kept = [line for line in left.split("\n") if line.strip() and not line.startswith("| Q |")]
    assert [line for line in kept if line != "|---|---"] == ["The lamp stays dark", "It is lit."]


@pytest.mark.parametrize(
    "line",
    [
        "It works in 1.8.4.",
        "`select` needs 2.0, see below",
        "## The clock of the retry",
        "### How `version` is read",
        "| left | right |",
        "- [ ] support a second lamp",
        "```\nlamp.light(1.5)\nlamp.dim(2.5)\n```",
        "Options:\n  the lamp",
        "* Require w3lib 2.1.0+",
        "Drop Python 3.7",
        "RuntimeError: lamp 1.5 unsupported",
        "Mit Python 3.11 stürzt die Lampe ab",
        "表のランプ 1.2",
        "lampe brule depuis 2.1",
        "**Error:** the lamp context is missing",
        "**Expected:** error",
        "__init__ error",
        "In the terminal I see: no light",
        "shell=True is passed to the lamp",
        "version = read_version()",
        "if platform == 'lamp':",
        "- [ ] close the handle of the lamp on Windows",
        "Please provide a way to dim the lamp",
        "Please use `dim()` instead",
        "Between `<br>` and `<p>` it is dark",
        "Parsing `<!--` is slow\nand `-->` as well",
        "The lamp stops at <!-- in a line\nand stays dark",
        "```html\n<!-- a lamp -->\n```",
        "````md\n```py\nlamp()\n```\n## Version\n````\n## Lamps",
        "```lamp()``` fails\nin the dark",
        "```toml\nlamp = 1\n```",
    ],
)
def test_what_a_reporter_says_stays(line: str) -> None:
    assert without_template(f"The lamp stays dark\n{line}") == f"The lamp stays dark\n{line}"


def test_a_sentence_ends_the_list_of_versions() -> None:
    text = "Title\nEnvironment:\n- Python: 3\nThe lamp stays dark when it is cold.\nlast"
    assert without_template(text) == "Title\nThe lamp stays dark when it is cold.\nlast"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Thanks for it! The lamp stays dark.", "The lamp stays dark."),
        ("Please search first. Did you? Thank you for it.", ""),
        ("<!-- Dear reporter\nand all\n\nThe lamp", "\n\nThe lamp"),
        ("a <!-- b --> c <!-- d\ne --> f", "a  c  f"),
        ("- [x] Linux\n- [ ] macOS 14", ""),
        ("### Configuration\n```toml\nlamp = 1\n```", "```toml\nlamp = 1\n```"),
        ("Environment:\n- OTP\nWhen I call `dim`:\nlast", "When I call `dim`:\nlast"),
        ("Environment:\n- OTP\nWhich lamp do you use?\none", ""),
    ],
)
def test_what_is_left_of_a_mixed_part(text: str, left: str) -> None:
    assert without_template(f"Title\n{text}") == (f"Title\n{left}" if left else "Title")


@pytest.mark.parametrize(
    "begin",
    ["<!-- Dear reporter,\nread all -->", "### Describe the bug", "- [x] I searched", "## Summary"],
)
def test_a_report_without_a_title_is_read_too(begin: str) -> None:
    assert without_template(f"{begin}\nThe lamp is dark\n- OS: none") == "The lamp is dark"
    assert without_template(f"## The lamp\n{begin}") == "## The lamp"
    assert without_template(f"{begin}\n_No response_") == begin.split("\n", maxsplit=1)[0]


@pytest.mark.parametrize(
    "trace",
    [
        'Traceback (most recent call last):\n  File "lamp.py", line 3, in dim\nValueError: dark',
        "** (ArgumentError) dark\n    (lamp 1.7.8) lib/lamp.ex:183: Lamp.dim/2",
        "TypeError: dark\n    at dim (lamp.js:3:1)",
        "panic: dark\n\ngoroutine 1 [running]:",
        "lamp.rb:3:in 'dim': dark (RuntimeError)",
        "Exception in thread main java.lang.IllegalStateException: dark",
        "   at Lamp.Dim() in C:\\lamp.cs:line 3",
        "#0 /srv/lamp.php(3): dim()",
    ],
)
@pytest.mark.parametrize("form", ["```\n{}\n```", "{}"])
def test_a_trace_below_the_versions_stays(trace: str, form: str) -> None:
    assert without_template(f"Title\n### Environment\n- Lamp 3\n{form.format(trace)}") == (
        f"Title\n{form.format(trace)}"
    )


def test_of_alike_lines_of_a_log_one_stays() -> None:
    log = [f"2026-01-01 10:00:{at % 60:02d} lamp{at} is lit" for at in range(2000)]
    text = "\n".join(
        ["The lamp is dark", "```", *log, "10:01 out", "10:02 in", "```", "1 a", "2 a"]
    )
    assert without_template(text).split("\n") == [
        "The lamp is dark", "```", log[0], "10:01 out", "10:02 in", "```", "1 a", "2 a",
    ]  # fmt: skip


def test_fences_may_be_nested() -> None:
    nested = "a\n````md\n```py\nb()\n```\n````\nc"
    assert prose_and_code(nested) == ("a\nc", "```py\nb()\n```")
    assert prose_and_code("```a()``` b\nc") == ("```a()``` b\nc", "")


def test_fenced_code_is_apart_from_the_prose_of_a_task() -> None:
    assert prose_and_code("a\n```py\nb()\n```\nc") == ("a\nc", "b()")
    assert prose_and_code("a\n~~~\nb()") == ("a", "b()")
    assert prose_and_code("`a` b") == ("`a` b", "")
