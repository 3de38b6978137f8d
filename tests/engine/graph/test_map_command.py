"""`codelens map`: the important parts of a repository, within a budget, and its pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo
from shop_repository import Run

from codelens.render.token_budget import cost_of


def test_the_map_looks_into_modules_and_lists_code_first(repo: GitRepo, run: Run) -> None:
    repo.write_all(
        {
            "big.json": "{\n" + '"a": 1,\n' * 500 + '"b": 2\n}\n',
            "pay.gemspec": "",
            "lib/pay.rb": "module Pay\n  class Bill\n    def sum\n      1\n    end\n  end\nend\n",
        }
    )
    ran = run("map")
    assert ran.out.startswith("repo: python 6 files")
    assert "  lib/pay.rb  pay: library, by its gemspec" in ran.out.splitlines()
    assert "  2  class Bill" in ran.out.splitlines()


def test_the_map_shows_important_entries_within_its_budget(repo: GitRepo, run: Run) -> None:
    ran = run("map", "--max-tokens", "400")
    assert ran.code == 0
    assert cost_of(ran.out) <= 400
    assert ran.out.splitlines()[0].startswith("repo: python 6 files")
    assert "  shop/cart.py#show  shop: command, by pyproject.toml" in ran.out.splitlines()
    assert any(line.startswith("shop/book.py  14 lines") for line in ran.out.splitlines())


def test_a_focus_and_a_query_draw_the_map_near(repo: GitRepo, run: Run) -> None:
    for at in range(20):
        repo.write(
            f"far/f{at}.py", f"def far{at}():\n    return {at}\n\n\ndef other{at}():\n    pass\n"
        )
    near = run("map", "far/f7.py", "--json").json
    assert near["results"][0]["path"] == "far/f7.py"
    assert near["focus"] == ["far/f7.py"]
    assert run("map", "shop", "--json").json["results"][0]["path"].startswith("shop/")
    assert run("map", "--query", "far13", "--json").json["results"][0]["path"] == "far/f13.py"


def test_pictures_escape_the_names_of_a_repository(repo: GitRepo, run: Run) -> None:
    evil = 'a"]<script>alert(1)</script>'
    repo.write(f"shop/{evil}/x.py", "from shop.book import tax\n\n\ndef x():\n    tax(1)\n")
    page = run("map", "--format", "html").out
    assert page.startswith("<!doctype html>")
    assert "<script>alert" not in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    chart = run("map", "--format", "mermaid").out
    assert chart.startswith("flowchart LR\n")
    assert "<" not in chart
    assert '"]<' not in chart
    dot = run("map", "--format", "dot").out
    assert dot.startswith("digraph map {")
    assert 'a\\"]' in dot


def test_an_empty_repository_has_an_empty_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.setenv("CODELENS_HOME", str(tmp_path / "home"))
    empty = GitRepo.init(tmp_path / "empty")
    ran = run("-C", str(empty.root), "map")
    assert ran.code == 1
    assert ran.out.startswith("empty: no code")
    assert run("-C", str(empty.root), "impact", "--diff").code == 2


def test_the_map_names_the_ways_into_packages_of_each_kind(repo: GitRepo, run: Run) -> None:
    repo.write_all(
        {
            "shop/__init__.py": "from .cart import show, total\nfrom .book import tax as levy\n",
            "go/go.mod": "module example.com/go-pay/v2\n\ngo 1.22\n",
            "go/pay.go": "package pay\n\ntype Bill struct{}\n",
            "js/a/package.json": '{"name": "a", "exports": {".": {"src": "./src/a.ts"}}}',
            "js/a/src/a.ts": "export const a = () => 1;\n",
            "js/b/package.json": '{"name": "b", "main": "./dist/b.js"}',
            "js/b/src/index.ts": "export const b = () => 1;\n",
        }
    )
    packages = {one["name"]: one for one in run("map", "--json").json["entries"]}
    assert packages["example.com/go-pay/v2"]["handle"] == "go/pay.go"
    assert packages["a"]["handle"] == "js/a/src/a.ts"
    assert packages["b"]["handle"] == "js/b/src/index.ts"
    given = {one["handle"]: one["why"] for one in run("map", "--json").json["entries"]}
    assert given["shop/__init__.py"] == "package, import shop; exports show, total, levy"


def test_a_build_script_is_no_entry_point(repo: GitRepo, run: Run) -> None:
    repo.write_all(
        {
            "tool/Cargo.toml": '[package]\nname = "tool"\n',
            "tool/build.rs": "fn main() {}\n",
            "tool/src/main.rs": "fn main() {}\n",
            "other/build.rs": "fn main() {}\n",
        }
    )
    places = {entry["handle"] for entry in run("map", "--json").json["entries"]}
    assert "tool/build.rs#main" not in places
    assert {"tool/src/main.rs", "other/build.rs#main"} <= places


def test_methods_that_stand_outside_of_their_type_are_shown_below_it(
    repo: GitRepo, run: Run
) -> None:
    repo.write_all(
        {
            "p/a.go": "package p\n\ntype Bill struct{}\n\nfunc help() {}\n\n"
            "func (b Bill) Sum() int { return 1 }\n",
            "p/b.go": "package p\n\nfunc use(b Bill) { b.Sum() }\n",
        }
    )
    lines = run("map", "p").out.splitlines()
    at = lines.index("  3  type Bill struct  <1")
    assert lines[at + 1].endswith("  func (b Bill) Sum() int")


def test_pictures_leave_out_files_without_a_link(repo: GitRepo, run: Run) -> None:
    repo.write("alone.py", "def alone():\n    pass\n")
    for form in ("mermaid", "dot"):
        drawn = run("map", "--format", form).out
        assert "cart.py" in drawn
        assert "alone.py" not in drawn
    assert "alone.py" in run("map", "--format", "html").out


@pytest.mark.parametrize(
    ("key", "heading"),
    [
        ("folder", "folders by weight"),
        ("entry", "entry points"),
        ("hot", "used by the most files"),
        ("meant", "the query finds"),
    ],
)
def test_each_list_says_how_many_it_leaves_out_and_more_tokens_give_them(
    repo: GitRepo, run: Run, key: str, heading: str
) -> None:
    for at in range(20):
        repo.write(f"lamp{at}/__main__.py", f"def lamp{at}():\n    return {at}\n")
        uses = f"from lamp{at}.__main__ import lamp{at}\n\n\ndef use():\n    return lamp{at}()\n"
        repo.write(f"one{at}/use.py", uses)
        repo.write(f"two{at}/use.py", uses)
    lists = {"folder": "folders", "entry": "entries"}
    name, query = lists.get(key, key), ("--query", "lamp") if key == "meant" else ()
    small = run("map", *query, "--json").json
    shown, count = len(small[name]), small[f"{key}_count"]
    assert 0 < shown < count
    assert f"{heading} ({shown} of {count}):" in run("map", *query).out
    large = run("map", *query, "--json", "--max-tokens", "60000").json
    assert len(large[name]) == large[f"{key}_count"] >= count
    assert f"{heading}:" in run("map", *query, "--max-tokens", "60000").out


def test_more_tokens_give_more_definitions_of_each_file(repo: GitRepo, run: Run) -> None:
    repo.write("shop/many.py", "".join(f"def part{at}():\n    pass\n\n\n" for at in range(40)))
    lefts = [
        sum(file["left"] for file in run("map", "--json", "--max-tokens", tokens).json["results"])
        for tokens in ("2000", "60000")
    ]
    assert lefts[0] >= 30 and lefts[1] == 0


def test_a_picture_counts_the_links_and_files_that_it_leaves_out(repo: GitRepo, run: Run) -> None:
    for at in range(50):
        repo.write(f"shop/x{at}.py", f"from shop.book import tax\n\n\ndef x{at}():\n    tax(1)\n")
    links = len(run("map", "--json", "--max-tokens", "6000").json["links"])
    assert links >= 50
    ran = run("map", "--format", "mermaid")
    assert ran.out.count("-->") == 40
    assert f"note: drawn: the 40 heaviest of {links} links; --json has all" in ran.err
    assert "files, those with such a link; --json has all" in ran.err
