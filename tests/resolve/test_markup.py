"""What the markup of components uses, across files."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

FMT = "export function fmt(x: any): string { return String(x) }\nexport enum Kind { A, B }\n"
CARD = """<template><div>{{ title }}<slot name="head"/></div></template>
<script setup lang="ts">
defineProps<{ title: string }>()
defineEmits<{ close: [] }>()
</script>
"""
FILES = {
    "fmt.ts": FMT,
    "types.d.ts": "interface Song { id: string; album: Album }\n"
    "declare type Album = { name: string }\n",
    "Card.vue": CARD,
    "Use.vue": """<template>
  <Card :title="fmt(amount)" @close="done"><template #head="{ x }">{{ x }}</template></Card>
  <button @click="onClick">{{ fmt(amount) }}</button>
  <Use v-if="open" @click="open = false"/>
</template>
<script setup lang="ts">
import { fmt } from './fmt'
import Card from './Card.vue'
const amount = 1, open = ref(true)
function onClick() {}
function done() {}
</script>
""",
    "Options.vue": """<template>
  <my-card :title="label" @close="save"/>
  <p v-for="x in rows">{{ x }} {{ total }}</p>
</template>
<script>
import MyCard from './Card.vue'
export default {
  components: { MyCard },
  props: { label: String },
  data() { return { rows: [] } },
  computed: { total() { return this.rows.length } },
  methods: { save() { return this.total } },
}
</script>
""",
    "Song.vue": """<script setup lang="ts">
import { toRefs, ref, computed } from 'vue'
const props = defineProps<{ song: Song }>()
const { song } = toRefs(props)
const all = ref<Song[]>([])
const first = computed(() => all.value[0])
</script>
<template>{{ song.id }}<i v-for="s in all">{{ s.album.name }}</i></template>
""",
    "Child.svelte": "<script>\nexport let m;\nexport let x = 1;\n</script>\n{m}\n",
    "Runes.svelte": """<script lang="ts">
interface Props { title: string; row: Snippet }
let { title, row }: Props = $props();
</script>
{title}{@render row(title)}
""",
    "App.svelte": """<script>
import Child from './Child.svelte';
import Runes from './Runes.svelte';
import { fmt, Kind } from './fmt';
import { count } from './stores';
let m = 1, k = Kind.A;
</script>
<Child on:click={() => fmt(m)} x={m}/>
{#if k === Kind.B}{$count}{/if}
<Runes title="a">{#snippet row(t)}{fmt(t)}{/snippet}</Runes>
""",
    "stores.ts": "export const count = writable(0)\n",
    "Child.astro": """---
interface Props { x: string }
const { x } = Astro.props;
---
<p>{x}</p><Astro.self x="b"/>
""",
    "page.astro": """---
import Child from './Child.astro';
import { fmt } from './fmt';
---
<Child x={fmt({v: 1})} />
""",
}


FILES |= {
    "Chart.tsx": "export function Chart({ year }) { return <p/> }\n"
    "export default function Box() {}\nexport const total = 3\n",
    "guide.mdx": """import { Chart, total } from './Chart'
import Box from "./Chart"

export const local = total

<Chart year={local} /> and {total}

```jsx
import { fmt } from './fmt'
fmt(<Box />)
```
<Box/>
""",
    "Guide.tsx": "import Guide, { local } from './guide.mdx'\n"
    "export const Shown = () => <Guide x={local} />\n",
}
FILES |= {
    "rows.ts": "export interface Row { label: string; by: { name: string }; name: string; "
    "low: X; high: X }\n",
    "List.vue": """<script setup lang="ts">
import type { Row } from './rows'
defineProps<{ rows: Row[]; marks: { x: number }[] }>()
defineSlots<{ default(props: { row: Row }): any; end: (props: Row) => any }>()
</script>
<template><slot :row="rows[0]"/>{{ rows[0].by.name }}{{ rows[0].name }}{{ marks[0].x }}</template>
""",
    "Rows.vue": """<script setup lang="ts">
import List from './List.vue'
</script>
<template>
  <List :rows="[{ label: 'a', by: { name: 'b' } }]" :marks="[{ x: 1 }]">
    <template #end="{ low }">{{ low }}</template>
    <template #default="{ row }">{{ row.high }}</template>
  </List>
</template>
""",
    "Typed.vue": """<script lang="ts">
import { defineComponent, PropType } from 'vue'
import type { Row } from './rows'
export default defineComponent({
  props: { row: { type: Object as PropType<Row>, required: true }, all: Array as () => Row[] },
  methods: { go() { return this.row.low } },
})
</script>
<template>{{ row.label }}<i v-for="x in all">{{ x.high }}</i></template>
""",
    "Each.svelte": """<script lang="ts">
import type { Snippet } from 'svelte';
import type { Row } from './rows';
let { row, all }: { row: Snippet<[Row]>; all: Row[] } = $props();
</script>
{@render row({ label: 'a' })}{all[0].by.name}
""",
    "Shown.vue": """<script>
import { fmt } from './fmt'
export default {
  data() { return { fmt: fmt(1) } },
}
</script>
<template>{{ fmt }}</template>
""",
    "auto/components.d.ts": """export {}
declare module 'vue' {
  export interface GlobalComponents {
    BigCard: typeof import('../Card.vue')['default']
    Away: typeof import('away')['default']
  }
  interface ComponentCustomProperties { __DEV__: boolean }
}
declare global {
  const useFmt: typeof import('../fmt')['fmt']
}
""",
    "auto/Auto.vue": """<script setup lang="ts">
const text = useFmt(1)
</script>
<template><BigCard :title="text" v-if="__DEV__"/><Away/>{{ useFmt(2) }}</template>
""",
    "Apart.vue": "<template><BigCard/></template>\n",
}


@pytest.fixture(scope="module")
def edges() -> set[str]:
    return {*edges_of(FILES), *edges_of(FILES, "ref")}


@pytest.mark.parametrize(
    "edge",
    [
        "Use.vue:default -> fmt.ts:fmt",
        "Use.vue:default -> amount",
        "Use.vue:default -> onClick",
        "Use.vue:default -> done",
        "Use.vue:default -> open",
        "Use.vue:default -> Card.vue:default",
        "Use.vue:default -> Card.vue:default.title",
        "Use.vue:default -> Card.vue:default.close",
        "Use.vue:default -> Card.vue:default.head",
        "Card.vue:default -> default.title",
        "Options.vue:default -> Card.vue:default",
        "Options.vue:default -> Card.vue:default.title",
        "Options.vue:default -> default.label",
        "Options.vue:default -> default.save",
        "Options.vue:default -> default.rows",
        "Options.vue:default -> default.total",
        "Song.vue:default -> types.d.ts:Song.id",
        "Song.vue:default -> types.d.ts:Album.name",
        "App.svelte:default -> Child.svelte:default",
        "App.svelte:default -> Child.svelte:x",
        "App.svelte:default -> fmt.ts:fmt",
        "App.svelte:default -> fmt.ts:Kind.B",
        "App.svelte:default -> m",
        "App.svelte:default -> stores.ts:count",
        "App.svelte:default -> Runes.svelte:Props.title",
        "App.svelte:default -> Runes.svelte:Props.row",
        "Child.svelte:default -> m",
        "Runes.svelte:default -> title",
        "page.astro:default -> Child.astro:default",
        "page.astro:default -> Child.astro:Props.x",
        "page.astro:default -> fmt.ts:fmt",
        "Child.astro:default -> x",
        "Child.astro:default -> Props.x",
        "guide.mdx:local -> Chart.tsx:total",
        "guide.mdx:default -> Chart.tsx:Chart",
        "guide.mdx:default -> Chart.tsx:total",
        "guide.mdx:default -> Chart.tsx:Box",
        "guide.mdx:default -> local",
        "Guide.tsx:Shown -> guide.mdx:default",
        "Guide.tsx:Shown -> guide.mdx:local",
        "Rows.vue:default -> rows.ts:Row.label",
        "Rows.vue:default -> rows.ts:Row.name",
        "Rows.vue:default -> List.vue:x",
        "Rows.vue:default -> rows.ts:Row.low",
        "Rows.vue:default -> rows.ts:Row.high",
        "List.vue:default -> rows.ts:Row.name",
        "List.vue:default -> x",
        "Typed.vue:default -> rows.ts:Row.label",
        "Typed.vue:default -> rows.ts:Row.high",
        "Typed.vue:default -> rows.ts:Row.low",
        "Each.svelte:default -> rows.ts:Row.label",
        "Each.svelte:default -> rows.ts:Row.name",
        "Shown.vue:default -> default.fmt",
        "auto/Auto.vue:default -> Card.vue:default",
        "auto/Auto.vue:default -> Card.vue:default.title",
        "auto/Auto.vue:default -> auto/components.d.ts:vue.ComponentCustomProperties.__DEV__",
        "auto/Auto.vue:default -> fmt.ts:fmt",
        "auto/Auto.vue:- -> fmt.ts:fmt",
    ],
)
def test_markup_uses_what_it_names(edges: set[str], edge: str) -> None:
    assert edge in edges


def test_names_that_the_markup_binds_are_no_uses() -> None:
    files = {
        "A.vue": "<script setup>\nconst item = 1\nfunction x() {}\n</script>\n"
        '<template><i v-for="item in 3" @click="x => x()">{{ item }}</i></template>\n',
        "B.svelte": "<script>\nlet item = 1\n</script>\n{#each [1] as item}{item}{/each}\n",
        "C.astro": "---\nconst item = 1\n---\n{[1].map((item) => <b>{item}</b>)}\n",
    }
    assert [*edges_of(files), *edges_of(files, "ref")] == []


def test_a_generated_declaration_counts_in_its_folder_only(edges: set[str]) -> None:
    assert not [edge for edge in edges if edge.startswith("Apart.vue")]


def test_a_page_does_not_use_what_its_examples_name(edges: set[str]) -> None:
    assert not [edge for edge in edges if edge.startswith("guide.mdx") and "fmt.ts" in edge]


@pytest.mark.parametrize(
    "type_",
    [
        "With<Other> & { size?: number }",
        "With<Other> & With<More> & { size?: number; color?: string }",
        "With<Other & ({ size?: number; color: 1 } | { color: 2 })>",
    ],
)
def test_props_in_an_alias_of_generic_types_are_those_of_the_component(type_: str) -> None:
    files = {
        "with.ts": "export type With<T, U = Other> = T & { ref?: U | null };\n",
        "Button.svelte": "<script lang='ts' module>\nimport type { With } from './with';\n"
        f"export type Props = {type_};\n</script>\n"
        "<script lang='ts'>\nlet { size, ...others }: Props = $props();\n</script>\n"
        "<p {...others} />\n",
        "App.svelte": "<script lang='ts'>\nimport Button from './Button.svelte';\n</script>\n"
        "<Button size={1} />\n",
    }
    edges = edges_of(files, "ref", lined=True)
    assert any(edge.startswith("App.svelte") and edge.endswith("size 3") for edge in edges), edges
