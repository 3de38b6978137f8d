"""What the markup of components uses: names, where they stand, and what they are used of."""

from __future__ import annotations

import pytest
from extract.hostile import check_facts

from codelens.extract.facts import structure

VUE = (
    "<script setup>\nimport Card from './Card.vue'\nconst [m, fmt, go] = x\n</script>\n"
    "<template>{}</template>"
)
SVELTE = "<script>\nimport Card from './Card.svelte'\nlet m, fmt, go\n</script>\n{}"
ASTRO = "---\nimport Card from './Card.astro'\nconst m = 1, fmt = 2\n---\n{}"
MDX = "import Card from './Card'\nexport const m = 1, fmt = 2\n\n# Title\n\n{}"
RAZOR = "{}\n@code {\nint m;\nList<Row> all = new();\nvoid Go(int x) { }\n}\n"
TEXTS = {"vue": VUE, "svelte": SVELTE, "astro": ASTRO, "mdx": MDX, "razor": RAZOR}


def uses(language: str, markup: str) -> list[str]:
    """The uses in markup: each with its receiver, and checked to stand where it says."""
    text = TEXTS[language].replace("{}", markup)
    first = text[: text.index(markup)].count("\n") + 1
    lines = text.split("\n")
    last = first + markup.count("\n")
    found: list[str] = []
    for use in structure(text.encode(), language).references:
        if not first <= use.line <= last or use.name in {"GetEnumerator", "MoveNext"}:
            continue
        written = lines[use.line - 1].encode()[use.column :].decode()
        plain = written[: 2 * len(use.name)].replace("-", "").lower()
        assert plain.startswith(use.name.replace("-", "").lower()) or use.name == "modelValue"
        found.append(f"{use.receiver}.{use.name}" if use.receiver else use.name)
    return found


@pytest.mark.parametrize(
    ("markup", "names"),
    [
        ("{{ fmt(m) }}", ["fmt", "m"]),
        ('<a @click="go"/>', ["go"]),
        ('<a @click="m = fmt(1); go()"/>', ["m", "fmt", "go"]),
        ('<a @click="(e) => go(e)"/>', ["go"]),
        (
            '<Card @close="go" :x="m" y="1"/>',
            ["Card", "Card().close", "go", "Card().x", "m", "Card().y"],
        ),
        ("<card/>", ["Card"]),
        ('<my-card data-a="1"/>', ["MyCard", "MyCard().dataA"]),
        (
            "<Card><template #head='{ m }'>{{ m }}{{ fmt }}</template></Card>",
            ["Card", "Card().head", "Card().head.#takes0.m", "fmt"],
        ),
        ('<Card v-model="m"/>', ["Card", "Card().modelValue", "m"]),
        ('<Card v-model:title.trim="m"/>', ["Card", "Card().title", "m"]),
        ("<a :m/>", ["m"]),
        ('<a :[m]="go"/>', ["m", "go"]),
        ('<i v-for="(m, at) in fmt" :key="m.id">{{ m }} {{ at }}</i>{{ m }}', ["fmt", "m.id", "m"]),
        ('<i v-for="{ a } of fmt"/>', ["fmt.#held[*].a", "fmt"]),
        ('<i v-focus="m"/>', ["this.vFocus", "m"]),
        ('<i v-if="m &amp;&amp; go"/>', ["m", "go"]),
        ("<i v-pre>{{ m }}</i>{{ go }}", ["go"]),
        ("<!-- {{ m }} -->{{ go }}", ["go"]),
        ("{{ label }}", ["this.label"]),
        ("{{ m.a.b }}", ["m", "m.#held.a", "m.#held.a.b"]),
        ('<component :is="m"/>', ["m"]),
        ("<button>{{ 'm' }}</button>", []),
        ("{{ fmt( }}{{ m }}", ["m"]),
        ("<p><b>{{ m }}</p>{{ go }}", ["m", "go"]),
        ('<a :x="m', []),
    ],
)
def test_vue(markup: str, names: list[str]) -> None:
    assert uses("vue", markup) == names


@pytest.mark.parametrize(
    ("markup", "names"),
    [
        ("<Card on:click={() => fmt(m)} />", ["Card", "Card().click", "fmt", "m"]),
        (
            "{#if m === go.B}{fmt}{:else if go}x{:else}{m}{/if}",
            ["m", "go", "go.B", "fmt", "go", "m"],
        ),
        ("{#each fmt as m, i (m.id)}{m}{i}{go}{:else}{m}{/each}", ["fmt", "m.id", "go", "m"]),
        ("{#each fmt as { a, b = go }}{a}{/each}", ["fmt", "fmt[*].a", "fmt[*].b", "go"]),
        ("{#await go then m}{m}{fmt}{:catch e}{e}{/await}{m}", ["go", "fmt", "m"]),
        ("{#key m}{@const n = fmt(m)}{n}{/key}", ["m", "fmt", "m"]),
        ("{#snippet row(m)}{m}{go}{/snippet}{@render row(fmt)}", ["go", "row", "fmt"]),
        ("<a use:go={m} transition:fmt class:m style:color={go}/>", ["go", "m", "fmt", "m", "go"]),
        ("<input bind:value={m} bind:go/>", ["m", "go"]),
        ("<Card {m} {...go} y='a {fmt}'/>", ["Card", "m", "Card().m", "go", "Card().y", "fmt"]),
        ("<Card let:m>{m}{go}</Card>", ["Card", "go"]),
        ("{$m}{$page}", ["m", "this.$page"]),
        ("{@html fmt(m)}", ["fmt", "m"]),
        ("<go/>{'}'}{m}", ["m"]),
        ("{fmt( }{m}", ["m"]),
        ("{#if m}{go}", ["m", "go"]),
        ("{m", []),
    ],
)
def test_svelte(markup: str, names: list[str]) -> None:
    assert uses("svelte", markup) == names


@pytest.mark.parametrize(
    ("markup", "names"),
    [
        ("<Card x={fmt({v: 1})} />", ["Card", "Card().x", "fmt", "fmt.#takes0.v"]),
        (
            "<ul>{m.map((i) => <Card x={i}>{fmt(i)}</Card>)}</ul>",
            ["m", "m.map", "Card", "Card().x", "fmt"],
        ),
        ("{m && <br/>}{fmt ? <b>{m}</b> : <Card/>}", ["m", "fmt", "m", "Card"]),
        ("{m.map(i => <><p>it's {i.a}</p></>)}", ["m", "m.map", "i.a"]),
        (
            "<Card {m} {...fmt} client:load class:list={[m]}/>",
            ["Card", "Card().m", "m", "fmt", "m"],
        ),
        ("<a href={`a ${m}`} b=`${fmt}`/>", ["m", "fmt"]),
        ("{/* m */}{m < 1}<!-- {m} -->", ["m"]),
        ("{m.map((i) => <b>}{fmt}", ["fmt"]),
        ("<style>a { b: c }</style><p>{m}</p>", ["m"]),
    ],
)
def test_astro(markup: str, names: list[str]) -> None:
    assert sorted(uses("astro", markup)) == sorted(names)


@pytest.mark.parametrize(
    ("markup", "names"),
    [
        ("Text {fmt(m)} and `{go}` and \\{go} here", ["fmt", "m"]),
        ("<Card x={fmt(m)}>\n  - **a** {m}\n</Card>", ["Card", "fmt", "m", "m"]),
        ("<p id={m}>{fmt}</p>", ["m", "fmt"]),
        ("<Card.Item/>", ["Card", "Card.Item"]),
        ("<Card x={<b>{m}</b>} {...fmt}/>", ["Card", "this.b", "m", "fmt"]),
        ("{/* m */}<!-- {m} -->{props.a}", ["this.props", "this.props.a"]),
        ("```js\nfmt(m)\n```\n\n~~~\n{m}\n~~~\n{fmt}", ["fmt"]),
        ("<p>```</p>\n\n````md\n```\n{m}\n````\n{fmt}", ["fmt"]),
        ("## Part {#m}\n\n{m}", ["m"]),
        ("<Card x={m\n\nText {fmt(m)}", ["fmt", "m"]),
        ("export const b = fmt(1)\nexport const c = {\n  d: m,\n\n  e: 1 }", ["fmt", "m"]),
        ("a export const b = fmt(1)", []),
        (
            "export const N = () => <p>don't {fmt(1)}</p>\n\n{m && <b>it's {fmt}</b>} 's",
            ["fmt", "m", "this.b", "fmt"],
        ),
        ("{m.replace(/\\{/g, fmt)} {m}", ["m", "m.replace", "fmt", "m"]),
        ("{m", []),
    ],
)
def test_mdx(markup: str, names: list[str]) -> None:
    assert uses("mdx", markup) == names


@pytest.mark.parametrize(
    ("markup", "names"),
    [
        ("@m and a@b.c and @@m", ["m"]),
        ("<p class='a @Go(m)'>@(m + 1)</p>", ["Go", "m", "m"]),
        ("<a @onclick='Go' @onclick:stop='m'/>", ["Go"]),
        ("<a @onclick='() => Go(m)'/>", ["Go", "m"]),
        ("<input @bind='m' @bind:event='oninput'/>", ["m"]),
        (
            "<Card X='Go' Y='@m' Z='text m'/>",
            ["Card", "`Card`.X", "Go", "`Card`.Y", "m", "`Card`.Z"],
        ),
        ("<Card @bind-Value='m'/>", ["Card", "`Card`.Value", "m"]),
        ("@if (m > 1) {\n<p>@m</p>\n} else {\n<i>@Go(1)</i>\n}", ["m", "m", "Go"]),
        ("@foreach (var x in all) {\n<li>@x.Name @m</li>\n}@m", ["all", "x.Name", "m", "m"]),
        ("@{ var y = m; }<p>@y</p>", ["m"]),
        ("@switch (m) { case 1: <p>@Go(m)</p> break; }", ["m", "Go", "m"]),
        ('@* @m *@<!-- @m -->\n@page "/m"\n@using m', []),
        ("@Go(m", ["Go"]),
        ("<p x='@m", []),
        (
            "<Card Title='Go' id='m' Count='m'/>",
            ["Card", "`Card`.Title", "`Card`.id", "`Card`.Count", "m"],
        ),
        ("<Card TItem='Row' />", ["Card", "Row"]),
        (
            "<Card><b><Foot/></b><Foot>@m</Foot></Card><Foot/>",
            ["Card", "Foot", "Foot", "`Card`.Foot", "Foot", "m"],
        ),
        ("<Go x='1'/>", ["`_`.x"]),
        ("\ufeff@using m\n@m", ["m"]),
        ('@if (m > 1 && x == @"C:\\") {\n<p>@m</p>\n}', ["m", "x", "m"]),
    ],
)
def test_razor(markup: str, names: list[str]) -> None:
    assert sorted(uses("razor", markup)) == sorted(names)


@pytest.mark.parametrize(
    ("language", "script", "members"),
    [
        (
            "vue",
            "<script setup>\ndefineProps(['a'])\ndefineEmits(['b-c'])\n</script>",
            ["a", "b-c"],
        ),
        (
            "vue",
            "<script setup lang='ts'>\nconst p = withDefaults(defineProps<{ a: T }>(), {})\n"
            "</script>",
            ["a"],
        ),
        (
            "vue",
            "<script setup lang='ts'>\ndefineEmits<{ (e: 'a' | 'b'): void }>()\n</script>",
            ["a", "b"],
        ),
        (
            "vue",
            "<script setup>\nconst m = defineModel('a')\nconst n = defineModel()\n</script>",
            ["a", "modelValue"],
        ),
        (
            "vue",
            "<script>\n"
            "export default { props: { a: {} }, data: () => ({ b: 1 }), computed: { c() {} },\n"
            "methods: { d() {}, ...mapActions(['e']) }, setup() { return { f } } }\n</script>",
            ["a", "b", "c", "d", "e"],
        ),
        ("svelte", "<script>\nlet { a, b: c = 1 } = $props();\n</script>", ["a", "b"]),
        ("svelte", "<script>\nexport let a;\nlet b; export { b as c };\n</script>", ["a", "c"]),
        ("vue", "<template><slot name='a'/></template>", ["a"]),
    ],
)
def test_a_component_has_what_it_declares(language: str, script: str, members: list[str]) -> None:
    found = structure(script.encode(), language)
    component = next(at for at, one in enumerate(found.symbols) if one.name == "default")
    own = {one.name for one in found.symbols if one.parent == component}
    assert set(members) <= own | {row.name for row in found.bindings if row.how == "prop"}


def test_a_broken_script_keeps_the_markup() -> None:
    text = "<script setup>\nfunction a() { if (\n</script>\n<template>{{ fmt(m) }}</template>"
    assert [use.name for use in structure(text.encode(), "vue").references] == ["fmt", "m"]


@pytest.mark.parametrize(
    ("language", "text"),
    [("astro", "---\nconst a = 1\nexport const "),
     ("vue", "<script>\nconst a = 1\nfunction ")],
)  # fmt: skip
def test_a_script_that_ends_before_a_name_defines_no_word_of_the_translation(
    language: str, text: str
) -> None:
    symbols = check_facts(text.encode(), language).structure.symbols
    assert {symbol.name for symbol in symbols} <= {"default", "a"}


@pytest.mark.parametrize("language", ["vue", "svelte", "astro"])
def test_the_words_after_an_unclosed_quote_are_few_uses(language: str) -> None:
    text = TEXTS[language].replace("{}", '<Card x="\n' + "a\n" * 5_000)
    assert len(structure(text.encode(), language).references) < 1_100


def test_a_template_in_another_language_is_text() -> None:
    text = '<template lang="pug">\np {{ fmt(m) }}\n</template>\n'
    assert structure(text.encode(), "vue").references == ()
