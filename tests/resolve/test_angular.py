"""Templates of Angular use what they name: of the component, and of what it imports."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

CODE = {
    "card.ts": """import { Component, EventEmitter, Input, Output, input } from '@angular/core';
@Component({ selector: 'app-card, [appCard]', exportAs: 'card', template: '' })
export class Card {
  @Input() title = '';
  @Input('sub') subtitle: string;
  @Input({ alias: 'big', required: true }) size: number;
  @Input() set wide(value: boolean) {}
  @Output() closed = new EventEmitter<Item>();
  item = input.required<Item>();
  open() {}
}
""",
    "item.ts": "export class Item {\n  id: number;\n  name: string;\n  owner: Item;\n}\n",
    "pipes.ts": """import { Pipe } from '@angular/core';
import { Item } from './item';
@Pipe({ name: 'first' })
export class FirstPipe {
  transform(items: Item[]): Item { return items[0]; }
}
""",
    "hint.ts": """import { Directive, Input } from '@angular/core';
@Directive({ selector: 'button[appHint]:not([plain])', exportAs: 'hint' })
export class Hint {
  @Input() appHint: string;
  @Input() appHintOf: string;
  show() {}
}
@Directive({ selector: '[appUnless]' })
export class Unless {
  @Input() appUnless: boolean;
  @Input() appUnlessThen: unknown;
}
""",
    "store.ts": "import { Item } from './item';\nexport class Store {\n  find(): Item {}\n}\n",
}
PAGE = """import { Component, computed, inject, signal } from '@angular/core';
import { Card } from './card';
import { FirstPipe } from './pipes';
import { Hint, Unless } from './hint';
import { Item } from './item';
import { Store } from './store';
const SHARED = [Hint, Unless];
@Component({ selector: 'app-page', TEMPLATE, imports: [Card, FirstPipe, ...SHARED] })
export class Page {
  items: Item[] = [];
  items$: Observable<Item[]>;
  name = '';
  chosen = signal<Item | null>(null);
  latest = computed(() => this.items[0]);
  store = inject(Store);
  save(item: Item) {}
  track() {}
  delete() {}
}
"""
USES = {
    "{{ name }}": "Page.name",
    "{{ other }}": "",
    "{{ items[0].owner.name }}": "Page.items Item.owner Item.name",
    "{{ !store.find().name }}": "Page.store Store.find Item.name",
    "{{ chosen()?.id + latest().id }}": "Page.chosen Page.latest Item.id",
    "<p (click)=\"save($event); name = 'a'\">": "Page.save Page.name",
    '<p (click)="delete()">': "Page.delete",
    '<p [class.on]="name" [style.width.px]="items.length">': "Page.name Page.items",
    '<p title="a {{ name }}">{{ "{{ name" }}</p>': "Page.name",
    "<app-card />": "Card",
    '<app-card title="a" [sub]="name" [big]="1">': (
        "Card Card.title Card.subtitle Page.name Card.size"
    ),
    '<app-card [subtitle]="1" [size]="1">': "Card",
    '<app-card [wide]="true" (closed)="save($event)">': "Card Card.wide Card.closed Page.save",
    '<app-card [item]="items[0]">': "Card Card.item Page.items",
    "<p appCard></p>": "Card",
    '<button appHint="a">': "Hint Hint.appHint",
    '<p appHint="a"><button appHint plain>': "",
    "<app-card #c /> {{ c.open() }}": "Card Card.open",
    '<button appHint #h="hint" (click)="h.show()">': "Hint Hint.appHint Hint.show",
    '<p *ngIf="name; else none"></p><ng-template #none></ng-template>': "Page.name",
    '<p *ngIf="items$ | async as list">{{ list[0].id }}</p>': "Page.items$ Item.id",
    '<p *ngFor="let one of items; let i = index; trackBy: track">{{ one.id + i }}</p>': (
        "Page.items Page.track Item.id"
    ),
    '<p *ngFor="let name of items">{{ name.id }}</p>{{ name }}': "Page.items Item.id Page.name",
    '<p *appUnless="name; then other">': "Unless Unless.appUnless Unless.appUnlessThen Page.name",
    "{{ items | first }} {{ (items | first).id }}": "FirstPipe.transform Page.items Item.id",
    "{{ (items | first: name).id | date: 'short' : name }}": (
        "FirstPipe.transform Page.items Item.id Page.name"
    ),
    "@if (latest(); as last) { {{ last.id }} } @else if (name) { } @else { {{ last }} }": (
        "Page.latest Item.id Page.name"
    ),
    "@for (one of items; track one.id; let n = $index) { {{ one.name + n }} } "
    "@empty { {{ name }} }": ("Page.items Item.id Item.name Page.name"),
    "@switch (name) { @case (store.find().id) { {{ name }} } @default { } }": (
        "Page.name Page.store Store.find Item.id Page.name"
    ),
    "@defer (when name) { <app-card /> } @placeholder { {{ name }} }": "Page.name Card Page.name",
    "@let one = items[0]; {{ one.id }}": "Page.items Item.id",
    "{items.length, plural, =1 {{{ name }}} other {none}} {{ name }}": "Page.items Page.name",
    '<ng-template let-one let-i="index">{{ one.id }}{{ i }}{{ name }}</ng-template>': "Page.name",
    "<ng-template #t let-name>{{ name }}</ng-template>{{ t }}{{ name }}": "Page.name",
    '<script>name</script><!-- {{ name }} --><p [a]="name': "",
    '{{ name | }} {{ ( }} <p [a]="items[">{{ name }}': "Page.name",
}


def _uses(files: dict[str, str], path: str) -> str:
    found = [edge for kind in ("ref", "call") for edge in edges_of(files, kind)]
    there = [edge.rpartition(" -> ")[2] for edge in found if edge.startswith(f"{path}:")]
    return " ".join(sorted(target.rpartition(":")[2] for target in there))


def _expected(text: str) -> str:
    return " ".join(sorted(set(text.split())))


@pytest.mark.parametrize("template", USES)
def test_a_template_uses_what_it_names(template: str) -> None:
    code = PAGE.replace("TEMPLATE", "templateUrl: './page.html'")
    files = {**CODE, "page.ts": code, "page.html": f"<ng-content />\n{template}\n"}
    assert _uses(files, "page.html") == _expected(USES[template])


@pytest.mark.parametrize("template", USES)
def test_an_inline_template_is_the_same(template: str) -> None:
    plain = edges_of({**CODE, "page.ts": PAGE.replace("TEMPLATE", "template: ''")}, "ref")
    code = PAGE.replace("TEMPLATE", f"template: `\n{template}\n`")
    found = _uses({**CODE, "page.ts": code}, "page.ts").split()
    without = {edge.rpartition(" -> ")[2].rpartition(":")[2] for edge in plain}
    for target in _expected(USES[template]).split():
        assert target in found
    assert set(found) <= {*_expected(USES[template]).split(), *without}


def test_a_component_uses_its_template() -> None:
    code = PAGE.replace("TEMPLATE", "templateUrl: '../web/page.html'")
    files = {**CODE, "page.ts": code.replace("../web", "./web"), "web/page.html": "<ng-content />"}
    assert "page.ts:Page -> web/page.html:-" in edges_of(files, "ref")


MODULES = {
    **CODE,
    "app.module.ts": "import { NgModule } from '@angular/core';\n"
    "import { Page } from './pages/page';\nimport { SharedModule } from './shared.module';\n"
    "@NgModule({ declarations: [Page], imports: [SharedModule.forRoot()] })\n"
    "export class AppModule {}\n",
    "shared.module.ts": "import { NgModule } from '@angular/core';\n"
    "import { Card } from './card';\n"
    "import { Hint } from './hint';\nimport { PipesModule } from './pipes.module';\n"
    "@NgModule({ declarations: [Card, Hint], exports: [Card, PipesModule] })\n"
    "export class SharedModule {}\n",
    "pipes.module.ts": "import { NgModule } from '@angular/core';\n"
    "import { FirstPipe } from './pipes';\n"
    "@NgModule({ declarations: [FirstPipe], exports: [FirstPipe] })\n"
    "export class PipesModule {}\n",
    "pages/page.ts": "import { Component } from '@angular/core';\n"
    "@Component({ selector: 'app-page', templateUrl: './page.component.html' })\n"
    "export class Page {\n  items = [];\n}\n",
    "pages/page.component.html": "<app-card />{{ items | first }}<button appHint>a</button>\n",
}


def test_modules_say_what_a_declared_component_may_use() -> None:
    # `Hint` is declared, but not exported.
    assert _uses(MODULES, "pages/page.component.html") == "Card FirstPipe.transform Page.items"


def test_a_template_without_a_component_uses_nothing() -> None:
    files = {**CODE, "page.html": '<p *ngIf="a">{{ name }}</p><app-card />'}
    assert _uses(files, "page.html") == ""


def test_a_signal_that_only_reads_another_has_its_type() -> None:
    code = PAGE.replace("TEMPLATE", "template: `{{ all()[0].id }}`").replace(
        "  name = '';",
        "  name = '';\n  list = signal<Item[]>([]);\n  all = this.list.asReadonly();",
    )
    assert "Item.id" in _uses({**CODE, "page.ts": code}, "page.ts").split()


def test_a_decorator_without_options_is_read() -> None:
    text = (
        "import { Directive, HostListener } from '@angular/core';\n@Directive()\n"
        "export abstract class Base {\n  @Input() size = 1;\n"
        "  @HostListener('focus') go() { this.size }\n}\n"
    )
    assert "base.ts:Base.go -> Base.size" in edges_of({"base.ts": text}, "ref")
