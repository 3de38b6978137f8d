/** Where there is no codelens, no git, or nobody who waits. */

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, test } from "node:test";

import { Cancelled, CodelensFailed, CommandLine } from "../src/command_line";
import type { DefinitionLenses } from "../src/definition_lenses";
import { findProgram } from "../src/find_program";
import { newBase, started, write } from "./shop";
import { documentOf, editor } from "./stand_in/vscode";

const base = newBase();
const PATH = process.env["PATH"] ?? "";
after(() => rmSync(base, { recursive: true }));
afterEach(() => {
  process.env["PATH"] = PATH;
  editor.choice = undefined;
});

/** A program that stands where codelens would. */
function program(name: string, script: string): string {
  const folder = join(base, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "codelens"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, "codelens"), 0o755);
  return folder;
}

test("another program named codelens is passed over, and so are relative folders", async () => {
  const stranger = program("stranger", "echo eyeglasses 3.0");
  const ours = program("ours", "echo codelens 7.8.9");
  const around = { home: join(base, "nobody"), platform: process.platform };
  const found = await findProgram("", { ...around, env: { PATH: `.:${stranger}:${ours}` } });
  assert.deepEqual(found, { path: join(ours, "codelens"), version: "7.8.9" });
  assert.equal(await findProgram("", { ...around, env: { PATH: stranger } }), undefined);
  assert.equal(await findProgram("ours/codelens", { ...around, env: { PATH: ours } }), undefined);
});

test("without codelens it is offered, and installed from the copy in the package", async () => {
  const packed = join(base, "package");
  write(packed, "bundle/codelens-0.1.0-py3-none-any.whl", "");
  write(packed, "bundle/install.sh", "");
  write(base, "empty/README.md", "# Nothing\n");
  process.env["PATH"] = "/nowhere";
  process.env["HOME"] = base;
  editor.choice = (items) => items[0];
  const end = await started(join(base, "empty"), packed);
  await settled(() => editor.tasks.length > 0);
  assert.match(editor.messages[0] ?? "", /needs the program codelens/);
  const { process: shell, args } = editor.tasks[0]?.execution ?? assert.fail();
  const bundle = join(packed, "bundle");
  assert.equal(shell, "sh");
  assert.deepEqual(args, [
    join(bundle, "install.sh"),
    "--from",
    join(bundle, "codelens-0.1.0-py3-none-any.whl"),
    "--no-agents",
  ]);
  // The task of the stand-in installs nothing.
  await settled(() => editor.messages.some((text) => /was not installed/.test(text)));
  assert.equal(editor.statusBar.command, "codelens.install");
  end();
});

test("a folder without git has uses and no changes", async () => {
  const plain = join(base, "plain");
  write(plain, "lamp.py", "def kindle():\n    pass\n\n\nkindle()\n");
  const end = await started(plain, base);
  const lenses = editor.lenses as DefinitionLenses;
  const document = documentOf(join(plain, "lamp.py"), "") as never;
  const [uses, ...more] = await lenses.provideCodeLenses(document);
  assert.deepEqual(more, []);
  assert.equal((await lenses.resolveCodeLens(uses ?? assert.fail())).command?.title, "1 use");
  assert.equal(editor.statusBar.text, "$(git-branch) no git · fresh");
  end();
});

test("while the index is behind, the status bar tells how far it is", async () => {
  const receipt = {
    branch: "main", head: "", worktree: base, files: 10, unread: 0, note: "",
    status: "partial", checked: 3, pending: 7,
  };
  const fresh = { ...receipt, status: "fresh", checked: 10, pending: 0 };
  const status = { kind: "folder", root: base, worktrees: [], others: [] };
  write(base, "partial.json", JSON.stringify({ receipt, status }));
  write(base, "fresh.json", JSON.stringify({ receipt: fresh, status }));
  const [partial, done, go] = ["partial.json", "fresh.json", "go"].map((name) => join(base, name));
  process.env["PATH"] = `${program(
    "behind",
    `case $1 in
      --version) echo codelens 0.1.0 ;;
      index) while [ ! -e ${go} ]; do sleep 0.05; done; cat ${done} ;;
      *) cat ${partial} ;;
    esac`,
  )}:/usr/bin:/bin`;
  write(base, "large/lamp.py", "");
  const starting = started(join(base, "large"), base);
  await settled(() => editor.statusBar.text.includes("partial"));
  assert.equal(
    editor.statusBar.text,
    "$(sync~spin) main · partial: 3 of 10 files, 7 pending",
  );
  write(base, "go", "");
  const end = await starting;
  assert.equal(editor.statusBar.text, "$(git-branch) main · fresh");
  end();
});

test("at most two processes run at a time, and all are answered", async () => {
  const log = join(base, "running");
  const folder = program(
    "slow",
    `echo + >> ${log}; sleep 0.1; wc -l < ${log}; echo - >> ${log}.done; sleep 0.1`,
  );
  const commandLine = new CommandLine(async () => join(folder, "codelens"));
  const answers = await Promise.all([1, 2, 3, 4, 5].map(() => commandLine.ask<number>(base, ["x"])));
  assert.equal(answers.length, 5);
  assert.ok(Math.min(...answers) <= 2, `all ran at once: ${answers}`);
});

test("a question that nobody waits for ends its process", async () => {
  const folder = program("stuck", "exec sleep 60");
  const commandLine = new CommandLine(async () => join(folder, "codelens"));
  let cancel: () => void = () => assert.fail("nothing listens");
  const cancellation = {
    isCancellationRequested: false,
    onCancellationRequested: (listener: () => void) => {
      cancel = listener;
      return { dispose: () => undefined };
    },
  };
  const asking = commandLine.ask(base, ["search"], cancellation);
  setTimeout(() => {
    cancellation.isCancellationRequested = true;
    cancel();
  }, 50);
  await assert.rejects(asking, Cancelled);
});

test("what is no answer is an error that says what to do", async () => {
  const cases: [string, RegExp][] = [
    ["echo hello", /did not print JSON; run it in a terminal: codelens status/],
    ["echo 'codelens: error: the index is locked; try again' >&2; exit 2", /^the index is locked; try again$/],
    ["echo Traceback >&2; exit 70", /ended with code 70: Traceback/],
  ];
  for (const [index, [script, message]] of cases.entries()) {
    const folder = program(`bad${index}`, script);
    const asking = new CommandLine(async () => join(folder, "codelens")).ask(base, ["status"]);
    await assert.rejects(asking, (error: Error) => {
      assert.ok(error instanceof CodelensFailed);
      assert.match(error.message, message);
      return true;
    });
  }
});

/** Wait until something holds; the time limit of the test runner ends it otherwise. */
async function settled(holds: () => boolean): Promise<void> {
  while (!holds()) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
