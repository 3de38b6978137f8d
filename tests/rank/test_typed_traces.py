"""Stack traces, pasted whole."""

from __future__ import annotations

import pytest
from cpu_growth import assert_linear
from ranking_index import places

from codelens.rank.pasted import stack_traces

FILES = {
    "src/shop/views.py": (
        "from shop import db\n\n\ndef index(request):\n    return load(request)\n\n\n"
        "def load(request):\n    return db.connect(request.id)\n"
    ),
    "src/shop/db.py": (
        "class DbError(Exception):\n    pass\n\n\ndef connect(number):\n"
        "    raise DbError(f'Connection to shard {number} was refused')\n"
    ),
    "src/main/java/com/foo/Bar.java": (
        "package com.foo;\n\npublic class Bar {\n  public int method(int x) {\n"
        "    throw new IllegalStateException(\"no \" + x);\n  }\n}\n"
    ),
    "server/server.go": (
        "package main\n\ntype Server struct{}\n\nfunc (s *Server) Handle(n int) int {\n"
        "\tvar m map[int]int\n\tm[n] = 1\n\treturn n\n}\n"
    ),
    "crate/src/foo.rs": (
        "pub struct Bar;\n\nimpl Bar {\n    pub fn baz(&self) {\n        panic!()\n    }\n}\n"
    ),
    "web/src/list.ts": "export function render(items) {\n  return items.map((x) => x);\n}\n",
    "lib/user.rb": "class User\n  def validate!\n    raise 'x'\n  end\nend\n",
    "Services/UserService.cs": (
        "namespace App {\n  public class UserService {\n    public int Get(int id) {\n"
        "      throw new System.Exception();\n    }\n  }\n}\n"
    ),
    "app/Db.php": (
        "<?php\nclass Db {\n  function connect($x) {\n    throw new RuntimeException('no');\n"
        "  }\n}\n"
    ),
}  # fmt: skip
PYTHON = """Traceback (most recent call last):
  File "/usr/lib/python3.11/site-packages/gunicorn/workers/sync.py", line 135, in handle
    self.handle_request(listener)
  File "/home/bob/repo/src/shop/views.py", line 5, in index
    return load(request)
  File "/home/bob/repo/src/shop/views.py", line 9, in load
    return db.connect(request.id)
  File "/home/bob/repo/src/shop/db.py", line 6, in connect
    raise DbError(
shop.db.DbError: Connection to shard 7 was refused
"""
JAVA = """Exception in thread "main" java.lang.IllegalStateException: no 12
\tat com.foo.Bar.method(Bar.java:5)
\tat java.base/java.lang.Thread.run(Thread.java:829)
"""
GO = """panic: assignment to entry in nil map

goroutine 1 [running]:
main.(*Server).Handle(0x1, 0x2)
\t/home/bob/repo/server/server.go:7 +0x1d
runtime.main()
\t/usr/local/go/src/runtime/proc.go:250 +0x1d3
"""
RUST = """thread 'main' panicked at src/foo.rs:5:9:
explicit panic
stack backtrace:
   0: rust_begin_unwind
             at /rustc/82e1608dfa6e0b5569232559e3d385fea5a93112/library/std/src/panicking.rs:645:5
   1: app::foo::Bar::baz
             at ./src/foo.rs:5:9
"""
NODE = """TypeError: Cannot read properties of undefined (reading 'map')
    at render (webpack-internal:///(rsc)/./web/src/list.ts:2:16)
    at Layer.handle (/app/node_modules/express/lib/router/layer.js:95:5)
    at processTicksAndRejections (node:internal/process/task_queues:96:5)
"""
RUBY = """lib/user.rb:3:in `validate!': x (RuntimeError)
\tfrom /usr/lib/ruby/gems/3.0.0/gems/rack-2.2/lib/rack/head.rb:12:in `call'
"""
CSHARP = """Unhandled exception. System.Exception: Exception of type 'System.Exception' was thrown.
   at App.UserService.Get(Int32 id) in C:\\build\\Services\\UserService.cs:line 4
   at System.Linq.Enumerable.First[TSource](IEnumerable`1 source)
"""
PHP = """PHP Fatal error:  Uncaught RuntimeException: no in /var/www/app/Db.php:4
Stack trace:
#0 /var/www/public/index.php(3): Db->connect()
#1 {main}
  thrown in /var/www/app/Db.php on line 4
"""


@pytest.mark.parametrize(
    ("text", "place", "note"),
    [
        (PYTHON, ("src/shop/db.py", 5, 6), "(Python): 3 of 4 frames are in this worktree"),
        (JAVA, ("src/main/java/com/foo/Bar.java", 4, 6), "(Java): 1 of 2 frames is in"),
        (GO, ("server/server.go", 5, 9), "(Go): 1 of 2 frames is in this worktree"),
        (RUST, ("crate/src/foo.rs", 4, 6), "(Rust): 2 of 3 frames are in this worktree"),
        (NODE, ("web/src/list.ts", 1, 3), "(JavaScript): 1 of 3 frames is in this worktree"),
        (RUBY, ("lib/user.rb", 2, 4), "(Ruby): 1 of 2 frames is in this worktree"),
        (CSHARP, ("Services/UserService.cs", 3, 5), "(C#): 1 of 2 frames is in this worktree"),
        (PHP, ("app/Db.php", 3, 5), "(PHP): 1 of 2 frames is in this worktree"),
    ],
)
def test_the_innermost_frame_that_is_here_comes_first(asked, text: str, place, note: str) -> None:
    store, view = asked
    outcome = store.search(view, text)
    assert places(outcome)[0] == place
    assert note in outcome.notes[0]
    assert outcome.results[0].why.startswith("frame ")


def test_the_line_below_a_php_frame_names_its_function(asked) -> None:
    store, view = asked
    text = (
        "PHP Fatal error:  Uncaught RuntimeException: no in /srv/vendor/shop/db/app/Db.php:4\n"
        "Stack trace:\n#0 /srv/vendor/shop/db/app/Db.php(9): Db->connect()\n"
        "#1 [internal function]: Db->call()\n#2 /srv/index.php(3): array_map()\n#3 {main}\n"
        "  thrown in /srv/vendor/shop/db/app/Db.php on line 4\n"
    )
    trace = stack_traces.parse(text)
    assert trace is not None
    assert [(frame.line, frame.name) for frame in trace.frames] == [
        (4, "Db.connect"), (9, "Db.call"), (3, ""),
    ]  # fmt: skip
    # The path below `vendor/` has lost the name of its library, so the function confirms it.
    first = store.search(view, text).results[0]
    assert (first.file.path, first.why) == (b"app/Db.php", "frame 1: line 4, in connect")


def test_a_frame_of_a_built_file_is_in_its_source(asked) -> None:
    store, view = asked
    text = (
        "TypeError: items is undefined\n"
        "    at {} (/app/node_modules/@shop/web/dist/list.js:190:30)\n"
        "    at main (/app/index.js:2:1)\n"
    )
    first = store.search(view, text.format("render")).results[0]
    assert (first.file.path, first.why) == (
        b"web/src/list.ts", "frame 1: render, not at line 190 now",
    )  # fmt: skip
    # Without the function, nothing confirms that it is this library.
    outcome = store.search(view, text.format("other"))
    assert "none of its 2 frames" in outcome.notes[0]


def test_frames_are_listed_innermost_first_then_the_message(asked) -> None:
    store, view = asked
    outcome = store.search(view, PYTHON)
    assert places(outcome)[:4] == [
        ("src/shop/db.py", 5, 6),
        ("src/shop/views.py", 8, 9),
        ("src/shop/views.py", 4, 5),
        ("src/shop/db.py", 1, 2),
    ]


def test_a_trace_in_one_line_or_with_escaped_breaks_is_read_too(asked) -> None:
    store, view = asked
    for text in (" ".join(NODE.split()), PYTHON.replace("\n", "\\n"), PYTHON.replace("\n", "\r\n")):
        outcome = store.search(view, text)
        assert outcome.notes[0].startswith("a stack trace")
        assert outcome.results[0].why.startswith("frame ")


def test_a_single_frame_is_a_place(asked) -> None:
    store, view = asked
    for text in (
        "com.foo.Bar.method(Bar.java:5)",
        "at com.foo.Bar.method(Bar.java:5)",
        '  File "/x/src/main/../shop/views.py", line 9, in load',
    ):
        outcome = store.search(view, text)
        assert "its frame is in this worktree" in outcome.notes[0]


def test_a_function_that_has_moved_is_found_by_its_name(asked) -> None:
    store, view = asked
    moved = PYTHON.replace("line 6, in connect", "line 2, in connect")
    first = store.search(view, moved).results[0]
    assert (first.start_line, first.why) == (5, "frame 1: connect, not at line 2 now")


def test_a_trace_of_other_programs_is_answered_by_its_error_and_says_so(asked) -> None:
    store, view = asked
    text = PYTHON.replace("/home/bob/repo/src/shop/", "/opt/other/things/")
    text = text.replace("views.py", "a1.py").replace("db.py", "b1.py")
    outcome = store.search(view, text)
    assert outcome.notes[0] == ("a stack trace (Python): none of its 4 frames is in this worktree")
    assert ("src/shop/db.py", 5, 6) in places(outcome)


@pytest.mark.parametrize(
    "text",
    [
        "look at the file src/shop/views.py and say why", "how do errors at line 12 happen",
        'what does File "x" mean', "email me at foo (bar:12)", "meet at 10:30", "#0 is first",
    ],
)  # fmt: skip
def test_sentences_are_not_traces(text: str) -> None:
    assert stack_traces.parse(text) is None


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (PYTHON, "DbError", "Connection to shard 7 was refused"),
        (JAVA, "IllegalStateException", "no 12"),
        (GO, "", "assignment to entry in nil map"),
        (RUST, "", "explicit panic"),
        (NODE, "TypeError", "Cannot read properties of undefined (reading 'map')"),
        (RUBY, "RuntimeError", "x"),
        (PHP, "RuntimeException", "no"),
    ],
)
def test_the_error_and_its_message_are_read(text: str, error: str, message: str) -> None:
    found = stack_traces.parse(text)
    assert found is not None
    assert (found.error, found.message) == (error, message)


def test_the_cause_of_an_error_comes_first() -> None:
    found = stack_traces.parse(
        JAVA + "Caused by: com.foo.DbException: refused\n\tat com.foo.Db.open(Db.kt:77)\n"
    )
    assert found is not None
    assert (found.error, found.frames[0].path) == ("DbException", "com/foo/Db.kt")


def test_a_report_around_a_trace_counts_as_much_as_its_error(asked) -> None:
    store, view = asked
    report = f"Wrong list of items is rendered in the web client\n\n```\n{PYTHON}```\nIt is new.\n"
    found = places(store.search(view, report))
    assert found[:3] == [
        ("src/shop/db.py", 5, 6), ("src/shop/views.py", 8, 9), ("src/shop/views.py", 4, 5),
    ]  # fmt: skip
    assert ("web/src/list.ts", 1, 3) in found
    assert ("web/src/list.ts", 1, 3) not in places(store.search(view, PYTHON))


@pytest.mark.parametrize("trace", [PYTHON, JAVA, GO, RUST, NODE, RUBY, CSHARP, PHP])
def test_the_text_around_a_trace_has_none_of_its_lines(trace: str) -> None:
    assert stack_traces.around(trace) == ""
    assert (
        stack_traces.around(f"The title\n\n{trace}\nThe end.").split()
        == "The title The end.".split()
    )


def test_an_anonymous_function_is_a_frame_of_the_function_around_it() -> None:
    found = stack_traces.parse(
        "** (ArgumentError) unknown registry: A\n"
        "    (elixir 1.17.3) lib/registry.ex:1391: Registry.key/1\n"
        "    (a 1.7.8) lib/a/feed.ex:183: anonymous fn/3 in A.Feed.stop/2\n"
    )
    assert found is not None
    assert found.frames[1] == stack_traces.Frame("lib/a/feed.ex", 183, "Feed.stop")


@pytest.mark.parametrize(
    ("text", "frames", "error"),
    [
        (
            '> Traceback (most recent call last):\n>   File "a/b.py", line 3, in f\n>     x\n'
            "> ValueError: bad",
            [("a/b.py", 3, "f")],
            "ValueError",
        ),
        (
            "  + Exception Group Traceback (most recent call last):\n"
            '  |   File "b.py", line 3, in f\n'
            "  | ExceptionGroup: multi (1 sub-exception)\n  +-+------- 1 -------\n"
            '    | Traceback (most recent call last):\n    |   File "c.py", line 9, in g\n'
            "    | ValueError: bad\n",
            [("c.py", 9, "g"), ("b.py", 3, "f")],
            "ValueError",
        ),
        (
            "** (FunctionClauseError) no function clause matching in Foo.bar/1\n"
            "    (foo 0.1.0) lib/foo.ex:3: Foo.bar(nil)\n"
            '    (elixir 1.15.0) lib/enum.ex:1693: Enum."-map/2-lists^map/1-0-"/2',
            [("lib/foo.ex", 3, "Foo.bar"), ("lib/enum.ex", 1693, "Enum")],
            "FunctionClauseError",
        ),
        (
            "System.InvalidOperationException: dark\n"
            "   at Foo.Bar.<Run>d__3.MoveNext() in C:\\src\\Bar.cs:line 42\n"
            "   at Foo.Bar.<>c.<Go>b__0_0(String a) in C:\\src\\Bar.cs:line 50\n",
            [("C:/src/Bar.cs", 42, "Bar.Run"), ("C:/src/Bar.cs", 50, "Bar.Go")],
            "InvalidOperationException",
        ),
        (
            "error: Uncaught (in promise) TypeError: dark\n    at file:///home/a/mod.ts:3:9",
            [("file:///home/a/mod.ts", 3, "")],
            "TypeError",
        ),
    ],
)
def test_quoted_grouped_and_generated_frames_are_read(
    text: str, frames: list[tuple[str, int, str]], error: str
) -> None:
    trace = stack_traces.parse(f"The lamp stays dark\n\n{text}")
    assert trace is not None
    assert [tuple(frame) for frame in trace.frames] == frames
    assert trace.error == error
    assert stack_traces.around(f"The lamp stays dark\n\n{text}").startswith("The lamp stays dark")


def test_the_error_counts_even_after_a_long_log(asked) -> None:
    store, view = asked
    log = "\n".join(f"{chr(97 + at % 26) * 4}{chr(97 + at // 26) * 5} done" for at in range(600))
    trace = PYTHON.replace("Connection to shard 7 was refused", "validate user")
    report = f"It does not work since the newest release of yesterday morning\n{log}\n{trace}"
    assert ("lib/user.rb", 2, 4) in places(store.search(view, report))


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (PYTHON[: PYTHON.rindex("shop.db")] + "StopIteration\n", "StopIteration", ""),
        (
            "ArgumentError (string contains null byte):\n\nlib/user.rb:3:in `validate!'\n",
            "ArgumentError",
            "string contains null byte",
        ),
    ],
)
def test_errors_without_a_colon_are_read(text: str, error: str, message: str) -> None:
    found = stack_traces.parse(text)
    assert found is not None
    assert (found.error, found.message) == (error, message)


@pytest.mark.parametrize(
    ("pattern", "times"),
    [
        ("at ", 25_000), ("/", 2_000), ("a/", 2_000), ("\tat a.b.c(", 5_000), ('File "', 10_000),
        ("(", 25_000), ("a", 50_000), ("x@http://", 5_000), (PYTHON, 150),
    ],
)  # fmt: skip
@pytest.mark.parametrize("around", ["{}", "at {}(x:1:1)", "#0 {}"])
def test_time_for_a_hostile_trace_grows_with_its_length(
    pattern: str, times: int, around: str
) -> None:
    assert_linear(lambda text: stack_traces.parse(around.format(text)), pattern, times)
    assert_linear(lambda text: stack_traces.around(around.format(text)), pattern, times)
