"""Questions about Angular code answer with the templates that use it, and their components."""

from __future__ import annotations

import pytest
from gitrepo import GitRepo
from shop_repository import Run

FILES = {
    "app/card.ts": "import { Component, Input } from '@angular/core';\n"
    "@Component({ selector: 'app-card', template: `<b>{{ title }}</b>` })\n"
    "export class CardComponent {\n  @Input('heading') title = '';\n}\n",
    "app/page.component.ts": "import { Component } from '@angular/core';\n"
    "import { CardComponent } from './card';\n"
    "@Component({ templateUrl: './page.component.html', imports: [CardComponent] })\n"
    "export class PageComponent {\n  save() {}\n}\n",
    "app/page.component.html": '<app-card heading="a" />\n<button (click)="save()">Save</button>\n',
    "app/other.component.html": '<app-card heading="a" (click)="save()" />\n',
}


@pytest.fixture
def committed() -> dict[str, str]:
    return FILES


@pytest.mark.parametrize(
    ("target", "sites"),
    [
        ("PageComponent.save", ["app/page.component.html:2"]),
        ("CardComponent", ["app/page.component.html:1"]),
        ("CardComponent.title", ["app/card.ts:2", "app/page.component.html:1"]),
    ],
)
def test_a_template_uses_what_it_names(
    repo: GitRepo, run: Run, target: str, sites: list[str]
) -> None:
    found = run("references", target, "--json").json
    lines = [f"{one['path']}:{one['line']}" for one in found["results"] if one["certain"]]
    assert [line for line in lines if ".html" in line or target.endswith("title")] == sites
    affected = {one["handle"] for one in run("impact", target, "--json").json["results"]}
    assert {"app/page.component.html", "app/page.component.ts#PageComponent"} <= affected
    assert "app/other.component.html" not in affected
