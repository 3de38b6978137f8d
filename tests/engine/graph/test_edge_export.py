"""`export edges`: the content of its lines."""

from __future__ import annotations

import json

import pytest
from gitrepo import GitRepo
from shop_repository import Run


@pytest.fixture
def committed() -> dict[str, str]:
    brought = "import { make } from './make.js';\n\n"
    return {
        "make.js": "export function make() {}\n",
        "unnamed.js": f"{brought}export default function () {{ make(); }}\n",
        "named.js": f"{brought}export class A {{ default() {{ make(); }} }}\n",
    }


def lines(run: Run, *args: str) -> list[dict[str, object]]:
    return [json.loads(one) for one in run("export", "edges", *args).out.splitlines()]


def test_a_definition_without_a_name_in_the_text_has_no_line(repo: GitRepo, run: Run) -> None:
    calls = {one["src_file"]: one["src_line"] for one in lines(run) if one["kind"] == "call"}
    assert calls == {"unnamed.js": 0, "named.js": 3}
    related = run("related", "make.js#make", "--kind", "callers", "--json").json
    assert [one["handle"] for one in related["results"]] == [
        "named.js#A.default",
        "unnamed.js#default",
    ]


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": "def f():\n    pass\n", "b.py": "from a import f\n\n__all__ = ['f']\n"},
        {
            "a.js": "export function f() {}\n",
            "b.js": "import { f } from './a.js';\n\nexport { f };\n",
        },
        {
            "a.ts": "export interface f {}\n",
            "b.ts": "import { f } from './a';\n\nexport { f };\n",
        },
    ],
    ids=["python", "javascript", "typescript"],
)
def test_a_name_in_a_list_of_exports_is_no_plain_use(
    repo: GitRepo, run: Run, files: dict[str, str]
) -> None:
    repo.commit("exports", files)
    kinds = {one["kind"] for one in lines(run) if one["name"] == "f" and one["line"] == 3}
    assert kinds == {"export"}
    (target,) = [path for path in files if path.startswith("a.")]
    listed = run("references", f"{target}#f", "--json").json["results"]
    assert [one["line"] for one in listed if one["certain"]] == [1, 3]
