"""Signals other than a file's words: related words, names, folders, roles."""

from __future__ import annotations

import pytest
from ranking_index import Store, paths

from codelens.index.ingestion import path_facts
from codelens.rank import ranking_weights
from codelens.rank.query import query_analysis
from codelens.rank.query.query_analysis import MAX_TERMS, analyse

FILLER = {
    f"lib/part{number}.py": f"def part{number}():\n    return {number}\n" for number in range(12)
}


def related_words(text: str) -> set[str]:
    return {one.text for one in query_analysis.related_to(analyse(text))}


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("how it reads files", "reader"),
        ("writing a report", "writer"),
        ("request logging", "logger"),
        ("connect to it", "connector"),
        ("the reader of files", "read"),
        ("one mapper", "map"),
        ("configuration of it", "config"),
        ("db access", "databas"),
    ],
)
def test_a_word_brings_its_kin(typed: str, written: str) -> None:
    assert written in related_words(typed)


def test_a_single_name_is_taken_literally() -> None:
    assert query_analysis.related_to(analyse("config")) == []


def test_related_words_never_outrank_typed_ones() -> None:
    long = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(60))
    query = analyse(long)
    assert len(query.terms) + len(query_analysis.related_to(query)) <= max(
        MAX_TERMS, len(query.terms)
    )


def test_kin_counts_less_than_the_word_itself(store: Store) -> None:
    files = {
        "src/a.py": "def one():\n    # reading of rows\n    return 1\n",
        "src/b.py": "def two():\n    # a reader of rows\n    return 2\n",
    }
    view = store.view({**files, **FILLER})
    assert paths(store.search(view, "reading rows"))[:2] == ["src/a.py", "src/b.py"]
    assert paths(store.search(view, "reader rows"))[:2] == ["src/b.py", "src/a.py"]


def test_a_file_that_is_named_in_a_sentence_comes_first(store: Store) -> None:
    busy = "def parse(text):\n    # table of rows, wrong width of a table, table rows\n    pass\n"
    files = {"src/writers/latex.py": "def begin():\n    pass\n", "src/tables.py": busy}
    view = store.view({**files, **FILLER})
    found = store.search(view, "wrong width of table rows in latex.py")
    assert paths(found)[0] == "src/writers/latex.py"


def test_a_module_that_is_named_with_dots_comes_before_one_that_shares_words(store: Store) -> None:
    files = {
        "pkg/ext/napoleon/docs.py": "def read():\n    return 'docs'\n",
        "pkg/events.py": "def handler(event):\n    # the event handler\n    return event\n",
    }
    view = store.view({**files, **FILLER})
    found = paths(store.search(view, "fix event handler in pkg.ext.napoleon"))
    assert "pkg/ext/napoleon/docs.py" in found[:2]


def test_an_identifier_among_plain_words_outweighs_them(store: Store) -> None:
    files = {
        "src/resolve.py": "def resolve(node):\n    # continue resolving a node of the resolver\n"
        "    return node\n",
        "src/access.py": "def load(path):\n    return path.code == ERR_ACCESS_DENIED\n",
    }
    view = store.view({**files, **FILLER})
    found = store.search(view, "continue on ERR_ACCESS_DENIED in the resolver", explain=True)
    first = found.results[0]
    assert first.file.path == b"src/access.py"
    assert first.explain["verbatim"] == pytest.approx(ranking_weights.WORDS["verbatim"])


def test_among_similar_files_the_one_nearest_the_root_is_first(store: Store) -> None:
    text = "def encode(value):\n    # encodes a value for the wire\n    return value\n"
    files = {"src/a/b/c/wire.py": text, "src/wire.py": text + "\n"}
    view = store.view({**files, **FILLER})
    assert paths(store.search(view, "encode a value for the wire"))[0] == "src/wire.py"


def test_one_common_word_of_a_long_question_does_not_make_its_file_the_answer(store: Store) -> None:
    files = {f"src/use{n}.py": f"def use{n}(path):\n    return path\n" for n in range(9)}
    files["src/path.py"] = "def join(left, right):\n    return left + right\n"
    files["src/pagesfromdata/adapter.py"] = (
        "def metrics(template):\n    # relative metrics of the content adapter template\n"
    )
    view = store.view({**files, **FILLER})
    found = store.search(
        view, "pagesfromdata: use the relative path for content adapter template metrics"
    )
    assert paths(found)[0] == "src/pagesfromdata/adapter.py"


def test_a_changelog_with_every_word_stands_below_the_code(store: Store) -> None:
    words = "explode splits a value at each separator and strips the blanks"
    files = {
        "CHANGELOG.md": "# Changes\n\n" + f"- {words}\n" * 20,
        "src/text.py": "def explode(value, by):\n    # splits at each separator\n    return []\n",
    }
    view = store.view({**files, **FILLER})
    found = paths(store.search(view, "how explode splits a value at each separator"))
    assert found.index("src/text.py") < found.index("CHANGELOG.md")


def test_a_build_file_stands_below_the_code_unless_it_is_asked_for(store: Store) -> None:
    files = {
        "package.json": '{"scripts": {"loop": "detect a loop and report it", "report": "loop"}}\n',
        "src/planner.py": "def circular(plan):\n    # a loop is reported\n    return plan\n",
    }
    view = store.view({**files, **FILLER})
    asked = paths(store.search(view, "how is a loop detected and reported"))
    assert asked.index("src/planner.py") < asked.index("package.json")
    asked = paths(store.search(view, "which script detects a loop to report it"))
    assert asked.index("package.json") < asked.index("src/planner.py")


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("sphinx/locale/de/LC_MESSAGES/sphinx.po", "translation"),
        ("res/values/messages.resx", "translation"),
        ("app/locales/fr.yml", "translation"),
        ("lib/locale.py", ""),
        ("lib/locales/load.py", ""),
        ("build/curl.vcxproj", "data"),
        ("assets/logo.svg", "data"),
        ("config/app.yml", ""),
        ("docs/usage.md", "prose"),
        ("LICENSE-APACHE", "prose"),
        ("src/history.py", ""),
        ("pkg/.gitignore", "data"),
        ("tests/locale/de.po", "test"),
        ("features/permalinks.feature", "test"),
        ("features/step_definitions/steps.rb", "test"),
        ("Src/Shop.Tests/Objects/Order.cs", "test"),
        ("Src/Shop.UnitTests/Order.cs", "test"),
        ("shop/src/jvmTest/kotlin/Peer.kt", "test"),
        ("integration-tests/src/main/java/App.java", "test"),
        ("src/OrderTest.cpp", "test"),
        ("base/files/file_unittest.cc", "test"),
        ("web/order.cy.ts", "test"),
        ("test.bats", "test"),
        ("Zend/scalar_000.phpt", "test"),
        ("jq.1.prebuilt", "prose"),
        ("man/tool.8", "prose"),
        ("docs/manual/v1.7/manual.yml", "prose"),
        ("docs/_layouts/page.html", "prose"),
        ("docs/conf.py", "tooling"),
        (".github/ISSUE_TEMPLATE/bug.yml", "tooling"),
        (".github/CONTRIBUTING.md", "prose"),
        ("web/vite.config.ts", "tooling"),
        ("web/tsconfig.build.json", "tooling"),
        ("package.json", "tooling"),
        ("Makefile", "tooling"),
        (".eslintrc.cjs", "tooling"),
        ("app/Shop.csproj", "tooling"),
        ("docs/assets/start/javascripts/mirror/lib/mirror.js", "prose"),
        ("docs/public/4.0/app.bundle.js", "prose"),
        ("website/src/components/Button.js", ""),
        ("src/assets/player.js", ""),
        ("ui/public/libs/chart.iife.js", "generated"),
        ("lib/box.umd.js", "generated"),
        ("app/assets/javascripts/jquery-3.7.1-ui-1.13.3.js", "vendored"),
        ("app/assets/stylesheets/tribute-5.1.3.css", "vendored"),
        (".yarn/releases/yarn-4.9.1.cjs", "vendored"),
        ("src/issue-3697.js", ""),
        ("src/bundle.js", ""),
        ("src/package.ts", ""),
        ("src/config.ts", ""),
        ("src/setup.ts", ""),
        ("lib/tool-1.2", ""),
        ("app/views/page.html", ""),
        ("adapt/redirects.caddyfiletest", "test"),
        ("src/latest/order.py", ""),
        ("src/contests/order.py", ""),
        ("tokio-test/src/io.rs", ""),
        ("src/Contest.ts", ""),
        ("src/attest.cc", ""),
        ("src/protest/a.go", ""),
        ("lib/feature.py", ""),
    ],
)
def test_roles_are_determined_by_paths_alone(path: str, role: str) -> None:
    assert path_facts(path.encode()).role == role


def test_translations_do_not_take_the_places_of_code(store: Store) -> None:
    said = 'msgid "the builder failed to write the output file"\nmsgstr "..."\n' * 5
    files = {f"app/locale/{n:02}/app.po": said + f"# {n}\n" for n in range(60)}
    files["app/builder.py"] = "def write(output):\n    # the builder failed\n    return output\n"
    view = store.view({**files, **FILLER})
    found = store.search(view, "the builder failed to write the output file")
    assert paths(found)[0] == "app/builder.py"
    outcome = store.search(view, "translation of: the builder failed to write the output file")
    assert any(path.endswith(".po") for path in paths(outcome))


def test_a_name_with_signs_is_compared_with_stems_stopwords_and_all(store: Store) -> None:
    files = {
        "rules/no-var.js": "module.exports = { create() { return 1 } }\n",
        "rules/no-unsafe-negation.js": "// no var is no unsafe var\nlet vars = 1 // var, no var\n",
    }
    view = store.view({**files, **FILLER})
    assert paths(store.search(view, "fix the report of `no-var` for vars"))[0] == "rules/no-var.js"


def test_a_definition_is_found_among_fifty_translations(store: Store) -> None:
    codes = "ar az be bg bn bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl he hi hr hu"
    files = {
        f"conf/locale/{code}/formats.py": f"DATE_FORMAT = 'j F {code}'\nX = '{code}'\n"
        for code in [
            *codes.split(),
            *"hy id ig is it ja ka kk km kn ko ky lb lt lv mk ml mn".split(),
        ]
    }
    files["conf/settings.py"] = "# Dates.\nDEBUG = False\nDATE_FORMAT = 'N j, Y'\n"
    view = store.view({**files, **FILLER})
    assert "conf/settings.py" in paths(store.search(view, "DATE_FORMAT"))


def test_a_part_of_a_class_stands_below_the_file_that_is_called_as_it(store: Store) -> None:
    part = "public partial class Serializer {\n" + "  public void Write() {}\n" * 9 + "}\n"
    files = {"src/Serializer.Json.cs": part, "src/Serializer.cs": part.replace("Write", "Read")}
    view = store.view({**files, **FILLER})
    assert paths(store.search(view, "Serializer"))[0] == "src/Serializer.cs"


def test_all_words_as_one_name_mean_that_definition_and_not_one_of_them(store: Store) -> None:
    files = {
        "src/hash.py": "def hashCode(v):\n    pass\n\ndef reflectionHashCode(value):\n    1\n",
        "src/other.py": "def hashCode(other):\n    # hashCode by reflection\n    return 3\n",
    }
    view = store.view({**files, **FILLER})
    found = store.search(view, "reflection hashCode").results
    assert (found[0].line, found[0].why) == (
        "def reflectionHashCode(value)",
        "defines it, spelled otherwise",
    )
    assert "defines it" not in [one.why for one in found[1:]]


def test_a_test_that_is_called_alike_stands_below_a_property_that_is_called_so(
    store: Store,
) -> None:
    files = {
        "src/point.py": "class Point:\n    @property\n    def width(self):\n        return 1\n",
        "tests/test_models.py": "class Width:\n    pass\n",
    }
    view = store.view({**files, **FILLER})
    assert paths(store.search(view, "width"))[0] == "src/point.py"


@pytest.mark.parametrize("query", ["*.html", "**/page.*", "web/*.html", "pa*.html"])
def test_a_path_with_wildcards_finds_files(store: Store, query: str) -> None:
    view = store.view({"web/page.html": "<p>html</p>\n", "src/html.py": "html = 1\n", **FILLER})
    found = store.search(view, query)
    assert (found.mode, paths(found)) == ("path", ["web/page.html"])


def test_a_regular_expression_is_not_a_path_with_wildcards(store: Store) -> None:
    view = store.view({"src/get_it_all.py": "def get_it_all():\n    pass\n", **FILLER})
    assert store.search(view, "get_.*all").mode != "path"


def test_an_empty_file_answers_nothing(store: Store) -> None:
    files = {"src/session/__init__.py": "", "src/store.py": "def session():\n    return 1\n"}
    view = store.view({**files, **FILLER})
    assert paths(store.search(view, "session")) == ["src/store.py"]


def test_a_file_at_the_root_does_not_win_for_that_alone(store: Store) -> None:
    files = {
        "pom.xml": "<project><build>buffers of bytes</build></project>\n",
        "src/main/java/org/acme/io/Buffers.java": "class Buffers {\n  // joins bytes\n}\n",
    }
    view = store.view({**files, **FILLER})
    assert paths(store.search(view, "join buffers of bytes"))[0].endswith("Buffers.java")


def test_a_quoted_word_is_a_whole_word_in_its_own_letter_case(store: Store) -> None:
    files = {
        "src/a.py": "import sessions\n\n\ndef class_of(sessions):\n    return sessions\n",
        "src/b.py": "class Session:\n    pass\n",
    }
    view = store.view({**files, **FILLER})
    assert paths(store.search(view, '"Session" class'))[0] == "src/b.py"


def test_a_long_question_is_not_a_message(store: Store) -> None:
    view = store.view({"src/a.py": "def redirect(url):\n    return url\n", **FILLER})
    queries = (
        "We call 'redirect' from a view and it is not working " + "as we would expect it to " * 20
    )
    assert not any("message" in note for note in store.search(view, queries).notes)


def test_a_file_with_the_name_comes_before_near_names(store: Store) -> None:
    files = {
        "src/commands/testserver.py": "class Command:\n    def handle(self):\n        return 1\n",
        "src/http.py": "def testservr():\n    return 3\n",
    }
    view = store.view({**files, **FILLER})
    found = store.search(view, "testserver")
    assert paths(found)[:2] == ["src/commands/testserver.py", "src/http.py"]
    assert found.results[1].why.startswith("near match")


def test_a_function_of_its_own_comes_before_methods_that_are_called_alike(store: Store) -> None:
    files = {
        "src/a.py": "class Node:\n    def render(self):  # render\n        return 1\n",
        "src/z/shortcuts.py": "def render(request):\n    return request\n",
    }
    view = store.view({**files, **FILLER})
    assert paths(store.search(view, "render"))[0] == "src/z/shortcuts.py"


def test_a_tools_message_about_a_line_leads_to_the_line(store: Store) -> None:
    code = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
    view = store.view(
        {"src/pkg/code.py": code, "src/long.py": "line_too_long = 'E501'\n", **FILLER}
    )
    found = store.search(view, "src/pkg/code.py:6:5: E501 line too long (101 > 100)")
    assert (paths(found)[0], found.results[0].line) == ("src/pkg/code.py", "def two()")


def test_the_name_of_a_rule_is_not_a_message(store: Store) -> None:
    files = {
        "rules/no-unused-vars.js": "module.exports = 1\n",
        "docs/x.md": "no-unused-vars rule\n",
    }
    view = store.view({**files, **FILLER})
    assert paths(store.search(view, "no-unused-vars rule"))[0] == "rules/no-unused-vars.js"


def test_three_quotes_in_a_row_quote_nothing(store: Store) -> None:
    view = store.view({"src/a.py": 'def host():\n    """Return the host."""\n', **FILLER})
    found = store.search(view, 'def host(): """Return the host of the request."""')
    assert paths(found)[0] == "src/a.py"
    assert not any("letter" in note for note in found.notes)
