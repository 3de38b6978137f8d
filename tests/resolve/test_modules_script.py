"""JavaScript and TypeScript, Vue and Svelte."""

from __future__ import annotations

from resolved_imports import imported


def of(text: str, *paths: str, at: str = "src/here.ts", **files: str) -> list[str]:
    return imported({**dict.fromkeys(paths, ""), **files, at: text}, at)


def test_relative_names_take_endings_and_indexes() -> None:
    text = "import './a'\nimport './b'\nimport '../c.vue'\nimport './d.json'\nimport './none'\n"
    assert of(text, "src/a.tsx", "src/b/index.ts", "c.vue", "src/d.json") == [
        "src/a.tsx", "src/b/index.ts", "c.vue", "src/d.json",
    ]  # fmt: skip


def test_a_module_named_js_is_the_ts_that_it_is_built_from() -> None:
    text = "import './a.js'\nimport './b.mjs'\nimport './c.jsx'\n"
    assert of(text, "src/a.ts", "src/b.mts", "src/c.tsx") == ["src/a.ts", "src/b.mts", "src/c.tsx"]


def test_the_source_wins_over_adjacent_build_output() -> None:
    assert of("import './a.js'\n", "src/a.ts", "src/a.js") == ["src/a.ts"]
    assert of("require('./a.js')\n", "src/a.ts", "src/a.js", at="src/x.js") == ["src/a.js"]


def test_dot_and_dots_are_the_index_of_a_folder() -> None:
    assert of("import '.'\nimport '..'\n", "src/index.ts", "index.js") == [
        "src/index.ts",
        "index.js",
    ]


def test_paths_of_the_compiler_settings_hold_below_their_folder() -> None:
    settings = """{ // with comments
      "compilerOptions": {"baseUrl": ".", "paths": {"@lib/*": ["./lib/*"], "~": ["./src/root"],},},
    }"""
    text = "import '@lib/a'\nimport '~'\nimport 'lib/a'\nimport 'react'\n"
    assert of(text, "lib/a.ts", "src/root.ts", **{"tsconfig.json": settings}) == [
        "lib/a.ts",
        "src/root.ts",
    ]


def test_settings_are_inherited_and_relative_to_where_they_stand() -> None:
    files = {
        "web/tsconfig.json": '{"extends": "../base.tsconfig.json"}',
        "web/tsconfig.app.json": '{"extends": "../tsconfig.base"}',
        "tsconfig.base.json": '{"compilerOptions": {"paths": {"@/*": ["./shared/*"]}}}',
    }
    assert of("import '@/x'\n", "shared/x.ts", at="web/src/a.ts", **files) == ["shared/x.ts"]


def test_prefixes_of_frameworks_mean_the_folders_of_sources() -> None:
    text = "import '~/a'\nimport '@/b'\nimport '~~/server/c'\nimport '@@/d'\nimport '~/e'\n"
    files = ["app/a.ts", "b.ts", "server/c.ts", "app/d.ts", "src/e.ts", "app/e.ts"]
    assert of(text, "package.json", *files) == ["app/a.ts", "b.ts", "server/c.ts", "src/e.ts"]


def test_packages_of_the_view_are_found_by_name_and_exports() -> None:
    manifest = """{"name": "@acme/kit", "main": "dist/index.js", "exports": {
      ".": {"types": "./dist/index.d.ts", "import": "./dist/index.js"},
      "./extra": "./lib/extra.js", "./parts/*": "./dist/parts/*.js"}}"""
    text = "import '@acme/kit'\nimport '@acme/kit/extra'\nimport '@acme/kit/parts/one'\n"
    paths = [f"packages/kit/src/{name}.ts" for name in ("index", "extra", "parts/one")]
    assert of(text, *paths, **{"packages/kit/package.json": manifest}) == paths


def test_two_packages_with_one_name_are_not_guessed_except_the_own_one() -> None:
    files = {"a/package.json": '{"name": "k"}', "b/package.json": '{"name": "k"}'}
    assert of("import 'k'\n", "a/index.ts", "b/index.ts", **files) == []
    assert of("import 'k'\n", "a/index.ts", "b/index.ts", at="b/test/x.ts", **files) == [
        "b/index.ts"
    ]


def test_private_names_of_a_package_are_found() -> None:
    manifest = '{"name": "k", "imports": {"#db": {"node": "./src/db.js"}, "#u/*": "./src/u/*.js"}}'
    assert of(
        "import '#db'\nimport '#u/a'\n", "src/db.ts", "src/u/a.ts", **{"package.json": manifest}
    ) == ["src/db.ts", "src/u/a.ts"]


def test_components_import_and_bundlers_aliases_count_where_the_file_is() -> None:
    text = "<script>\nimport A from '@/parts/A.vue'\nimport B from '@/no.vue'\n</script>\n"
    assert of(text, "web/src/parts/A.vue", at="web/src/App.vue", **{"web/package.json": "{}"}) == [
        "web/src/parts/A.vue"
    ]
    text = "<script>\nimport { x } from '$lib/x'\n</script>\n"
    assert of(text, "src/lib/x.ts", at="src/routes/p.svelte", **{"package.json": "{}"}) == [
        "src/lib/x.ts"
    ]


def test_a_manifest_that_is_not_json_is_ignored() -> None:
    assert of("import 'k'\n", "index.ts", **{"package.json": "{", "tsconfig.json": "[1"}) == []


def test_require_only_entries_are_the_last_choice() -> None:
    manifest = """{"name": "kit", "exports": {".": {
      "types": {"require": "./kit.d.cts", "default": "./kit.d.ts"}, "default": "./kit.js"}}}"""
    files = {"package.json": manifest, "kit.d.cts": "", "kit.d.ts": "", "kit.js": ""}
    assert of("import 'kit'\n", **files) == ["kit.d.ts"]
