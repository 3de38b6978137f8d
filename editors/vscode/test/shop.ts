/** A small real repository with a second worktree, and the extension started in it. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { activate } from "../src/extension";
import { editor } from "./stand_in/vscode";

export const TILL = `LIMIT = 10


def charge_card(amount):
    return amount


class Till:
    def pay(self, amount):
        return charge_card(amount)
`;

const TEST = `from src.till import charge_card


def test_charge():
    assert charge_card(1) == 1
`;

export interface Shop {
  base: string;
  root: string;
  other: string;
}

/** A folder of its own for the index, the user's home and the repositories. */
export function newBase(): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "codelens-vscode-")));
  process.env["CODELENS_HOME"] = join(base, "home");
  process.env["GIT_CONFIG_GLOBAL"] = join(base, "gitconfig");
  writeFileSync(join(base, "gitconfig"), "[user]\nname = Ada\nemail = ada@example.org\n");
  return base;
}

/** `charge_card` is changed here and, on another line of its, in the worktree `other`. */
export function newShop(): Shop {
  execFileSync("codelens", ["--version"], { stdio: "ignore" }); // it must be on the PATH
  const base = newBase();
  const root = join(base, "shop");
  const other = join(base, "other");
  mkdirSync(root);
  git(root, "init", "--quiet", "--initial-branch", "main");
  write(root, "src/till.py", TILL);
  write(root, "test_till.py", TEST);
  commit(root, "Add the till");
  git(root, "worktree", "add", "--quiet", "-b", "other", other);
  write(other, "src/till.py", TILL.replace("charge_card(amount):", "charge_card(amount, currency):"));
  return { base, root, other };
}

export function git(root: string, ...words: string[]): void {
  execFileSync("git", words, { cwd: root, stdio: "pipe" });
}

export function commit(root: string, subject: string): void {
  git(root, "add", "--all");
  git(root, "commit", "--quiet", "--message", subject);
}

export function write(root: string, path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text);
}

/** Start the extension in a folder; gives what ends it. */
export async function started(folder: string, extensionPath: string): Promise<() => void> {
  editor.folders = [folder];
  const subscriptions: { dispose(): void }[] = [];
  await activate({ subscriptions, extensionPath } as never);
  return () => subscriptions.forEach((part) => part.dispose());
}
