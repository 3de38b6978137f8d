/** The whole extension, with the real codelens on a real repository. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import type * as vscode from "vscode";

import type { DefinitionLenses } from "../src/definition_lenses";
import type { McpServers } from "../src/mcp_server";
import type { HandleDocuments, OpenPlace } from "../src/places";
import type { References } from "../src/references";
import type { ResultNode } from "../src/result_nodes";
import type { ResultsView } from "../src/results_view";
import type { UsesHover } from "../src/uses_hover";
import { git, newShop, type Shop, started, TILL, write } from "./shop";
import {
  documentOf,
  editor,
  Location,
  type MarkdownString,
  Position,
  Range,
  type RelativePattern,
  Uri,
  window,
} from "./stand_in/vscode";

const PACKAGE = join(__dirname, "..", "..");
let shop: Shop;
let end: (() => void) | undefined;

before(async () => {
  shop = newShop();
  write(shop.root, "src/till.py", TILL.replace("return amount", "return amount + 1"));
  end = await started(shop.root, PACKAGE);
});

after(() => {
  end?.();
  rmSync(shop.base, { recursive: true });
});

function till(text = TILL) {
  return documentOf(join(shop.root, "src", "till.py"), text) as unknown as vscode.TextDocument & {
    isDirty: boolean;
  };
}

const lenses = () => editor.lenses as DefinitionLenses;
const tree = () => (editor.tree?.treeDataProvider as ResultsView).getChildren();
const command = (name: string, argument?: unknown) =>
  editor.commands.get(`codelens.${name}`)?.(argument) ?? assert.fail(`no command ${name}`);

/** Label and description of results, those below indented. */
function shown(nodes: ResultNode[] = tree(), indent = ""): string[] {
  return nodes.flatMap((node) => [
    `${indent}${node.label} | ${node.description ?? ""}`,
    ...shown(node.children ?? [], `${indent}  `),
  ]);
}

test("every command of the package is registered, and no other", () => {
  const manifest = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));
  const declared = manifest.contributes.commands.map((item: { command: string }) => item.command);
  assert.deepEqual([...editor.commands.keys()].sort(), declared.sort());
});

test("the status bar has the branch, freshness and conflicts", () => {
  assert.equal(editor.statusBar.text, "$(git-branch) main · fresh · $(warning) 1 conflict");
  assert.match(editor.statusBar.tooltip, /conflicts with .*other/);
  assert.equal(editor.statusBar.visible, true);
});

test("lines above definitions tell uses, the last change and the other worktree", async () => {
  const titles: string[] = [];
  for (const lens of await lenses().provideCodeLenses(till())) {
    const { command: done } = await lenses().resolveCodeLens(lens);
    titles.push(`${lens.range.start.line + 1} ${done?.title.replace(/\d{4}-\d\d-\d\d/, "DATE")}`);
  }
  assert.deepEqual(titles, [
    "4 1 use, 1 import, 1 test",
    "4 changed here, not committed",
    "4 also being changed in worktree other",
    "8 0 uses, 1 test",
    "8 changed DATE by Ada: Add the till",
    "9 0 uses, 1 test",
    "9 changed DATE by Ada: Add the till",
  ]);
});

test("lines above definitions move with the text that is being edited", async () => {
  const document = till();
  await lenses().provideCodeLenses(document);
  document.isDirty = true;
  const range = new Range(2, 0, 2, 0) as unknown as vscode.Range;
  lenses().edited({
    document,
    contentChanges: [{ range, text: "a\nb\n", rangeOffset: 0, rangeLength: 0 }],
    reason: undefined,
  });
  const moved = await lenses().provideCodeLenses(document);
  assert.deepEqual([...new Set(moved.map((lens) => lens.range.start.line + 1))], [6, 10, 11]);
});

test("search shows ranked places that open", async () => {
  editor.input = "charge card";
  await command("search");
  const [first] = tree();
  assert.equal(first?.label, "charge_card");
  assert.equal(first?.description, "src/till.py:4");
  await command("open", first?.place);
  const opened = editor.opened.at(-1);
  assert.equal(opened?.uri.fsPath, join(shop.root, "src", "till.py"));
  assert.equal(opened?.options.selection?.start.line, 3);
});

test("callers of the definition at the cursor, also where it is used", async () => {
  for (const [line, character] of [[3, 6], [9, 18]] as const) {
    window.activeTextEditor = {
      document: till(),
      selection: { active: new Position(line, character) },
    };
    await command("callers", { path: "what a menu of the editor gives" });
    assert.deepEqual(shown(), [
      "Called by | 1",
      "  Till.pay | src/till.py:9",
      "    src/till.py:10 | ",
      "Imported by | 1",
      "  test_till.py | test_till.py",
      "    test_till.py:1 | ",
      "Tests | 1",
      "  test_charge | test_till.py:4",
      "    test_till.py:5 | ",
    ]);
  }
});

test("impact of uncommitted changes names the tests", async () => {
  await command("impact");
  assert.deepEqual(shown(), [
    "Changed | 1",
    "  charge_card | changed · src/till.py",
    "Affected | 1",
    "  Till.pay | directly · src/till.py",
    "Tests to run | 1",
    "  test_till.py | named for src/till.py; reaches it in 1 step",
    "    test_charge | ",
  ]);
});

test("a commit of the history opens the definition as it was", async () => {
  await command("history", { folder: shop.root, handle: "src/till.py#charge_card" });
  const [now, first] = tree();
  assert.equal(now?.label, "uncommitted");
  assert.equal(first?.label, "Add the till");
  await command("open", first?.place as OpenPlace);
  const uri = editor.opened.at(-1)?.uri as unknown as vscode.Uri;
  const text = await (editor.contents as HandleDocuments).provideTextDocumentContent(uri);
  assert.equal(text.trim(), "def charge_card(amount):\n    return amount");
  assert.equal(uri.path, "/src/till.py");
});

test("conflicts name the worktree, and both sides open", async () => {
  await command("conflicts");
  const [rival] = tree();
  assert.equal(rival?.label, shop.other);
  const collision = rival?.children?.[0];
  assert.match(collision?.label ?? "", /charge_card/);
  assert.deepEqual(collision?.place, {
    file: join(shop.root, "src", "till.py"), startLine: 4, endLine: 4,
  });
  assert.deepEqual(collision?.children?.[0]?.place, {
    file: join(shop.other, "src", "till.py"), startLine: 4, endLine: 4,
  });
});

test("notes show which of their handles still hold", async () => {
  const program = (await servers())[0]?.command ?? "";
  const words = ["save", "care", "src/till.py#Till", "--note", "be careful", "--json"];
  const done = spawn(program, words, { cwd: shop.root, stdio: "ignore" });
  await new Promise((resolve) => done.on("close", resolve));
  await command("notes");
  assert.deepEqual(shown(), ["care | note · be careful", "  src/till.py#Till | current"]);
});

test("a hover has the uses, and never reads names as Markdown", async () => {
  const hostile = "[x](command:workbench.action.quit).py";
  write(shop.root, hostile, "from src.till import charge_card\n\nprint(charge_card(2))\n");
  const hover = editor.hover as UsesHover;
  const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };
  await command("index");
  editor.saved.fire();
  await new Promise((resolve) => setTimeout(resolve, 600));
  const given = await hover.provideHover(till(), at(3, 6), token as never);
  const { markdown, text } = given?.contents as unknown as MarkdownString;
  assert.equal(text[0], "2 uses, 2 imports, 1 test of src/till.py#charge_card");
  assert.ok(text.some((part) => part.includes(hostile)), text.join("\n"));
  assert.ok(markdown.every((part) => !part.includes(hostile)));
  assert.ok(markdown.every((part) => !/\([^)]*[( ]/.test(part)), "a link ends early");
});

test("references are every certain line, and none where a language server answers", async () => {
  const references = editor.references as References;
  const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };
  const listed = () =>
    references.provideReferences(till(), at(3, 6), { includeDeclaration: false }, token as never);
  const rows = (await listed()).map(({ uri, range }) => {
    return `${uri.path.slice(shop.root.length + 1)}:${(range as never as Position).line + 1}`;
  });
  assert.ok(rows.includes("src/till.py:10"), rows.join("\n"));
  assert.ok(rows.includes("test_till.py:5"), rows.join("\n"));
  editor.commands.set("vscode.executeReferenceProvider", async () => [at(1, 1)]);
  assert.deepEqual(await listed(), []);
  // VS Code asks all providers, this one too, which then is silent.
  editor.commands.set("vscode.executeReferenceProvider", listed);
  assert.equal((await listed()).length, rows.length);
});

test("what a language server says of a definition is taken over, and only about its text", async () => {
  // Nothing in the text says what `till` is.
  const kiosk = "def serve(till):\n    till.pay(3)\n";
  const safe = "class Safe:\n    def pay(self, amount):\n        return amount\n";
  write(shop.root, "src/kiosk.py", kiosk);
  write(shop.root, "src/safe.py", safe);
  await command("index");
  const found = (path: string, line: number, from: number, to: number) => [
    new Location(Uri.file(join(shop.root, path)), new Range(line, from, line, to)),
  ];
  const answers = (server: Record<string, Location[]>) => {
    for (const [kind, places] of Object.entries(server)) {
      editor.commands.set(`vscode.execute${kind}Provider`, async () => places);
    }
  };
  const callers = async (handle = "src/till.py#Till.pay") => {
    await command("callers", { folder: shop.root, handle });
    return shown().filter((row) => /kiosk|safe/.test(row));
  };
  answers({
    Definition: found("src/till.py", 8, 8, 11),
    Reference: [...found("src/till.py", 8, 8, 11), ...found("src/kiosk.py", 1, 9, 12)],
    Implementation: [],
  });
  assert.deepEqual(await callers(), []);
  const document = documentOf(join(shop.root, "src", "kiosk.py"), kiosk);
  window.activeTextEditor = { document, selection: { active: new Position(1, 10) } };
  await command("languageServer");
  assert.equal(
    editor.messages.at(-1),
    "codelens: the language server's word on src/till.py#Till.pay counts in 2 files",
  );
  const served = ["  serve | src/kiosk.py:1", "    src/kiosk.py:2 | "];
  assert.deepEqual(await callers(), served);
  answers({
    Definition: found("src/till.py", 7, 6, 10),
    Reference: [],
    Implementation: found("src/safe.py", 0, 6, 10),
  });
  await command("languageServer");
  assert.deepEqual(await callers("src/till.py#Till"), ["  Safe | src/safe.py:1", "    src/safe.py:1 | "]);
  assert.deepEqual(await callers(), served, "the first word was lost");
  write(shop.root, "src/kiosk.py", `${kiosk}# edited\n`);
  assert.deepEqual(await callers(), []);
});

test("no language server, or a file that is not saved, is said", async () => {
  for (const kind of ["Definition", "Reference", "Implementation"]) {
    editor.commands.delete(`vscode.execute${kind}Provider`);
  }
  const document = till();
  window.activeTextEditor = { document, selection: { active: new Position(3, 6) } };
  await command("languageServer");
  assert.equal(
    editor.messages.at(-1),
    "codelens: no language server answers about src/till.py#charge_card",
  );
  document.isDirty = true;
  await command("languageServer");
  assert.match(editor.messages.at(-1) ?? "", /^codelens: the saved files have no definition/);
});

test("a change of branch shows in the status bar", async () => {
  git(shop.root, "switch", "--quiet", "--create", "feature");
  const head = editor.watched.find(({ pattern }) => typeof pattern !== "string");
  assert.equal((head?.pattern as RelativePattern).base.fsPath, join(shop.root, ".git"));
  head?.changed.fire(Uri.file(join(shop.root, ".git", "HEAD")));
  while (!editor.statusBar.text.includes("feature")) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

test("the MCP server is offered, and answers", async () => {
  const [server] = await servers();
  assert.deepEqual(server?.args, ["serve", "--root", shop.root]);
  const child = spawn(server?.command ?? "", server?.args ?? []);
  const hello = {
    jsonrpc: "2.0", id: 1, method: "initialize",
    params: {
      protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "0" },
    },
  };
  child.stdin.write(`${JSON.stringify(hello)}\n`);
  const line = await new Promise<string>((resolve) => child.stdout.once("data", resolve));
  child.stdin.end();
  assert.equal(JSON.parse(String(line)).result.serverInfo.name, "codelens");
  editor.settings["codelens.mcpServer"] = false;
  assert.deepEqual(await servers(), []);
});

test("an error of codelens is shown in its words", async () => {
  await command("history", { folder: shop.root, handle: "src/till.py#nowhere" });
  assert.match(editor.messages.at(-1) ?? "", /^codelens: .*nowhere/);
});

test("without a folder a command says what to do", async () => {
  editor.folders = [];
  window.activeTextEditor = undefined;
  await command("impact");
  assert.match(editor.messages.at(-1) ?? "", /^Open a folder first/);
  editor.folders = [shop.root];
});

async function servers() {
  const definitions = await (editor.servers as McpServers).provideMcpServerDefinitions();
  return definitions as vscode.McpStdioServerDefinition[];
}

function at(line: number, character: number): vscode.Position {
  return new Position(line, character) as unknown as vscode.Position;
}
