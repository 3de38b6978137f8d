/** Finds the folder to ask about, and its git directory. */

import { readFile, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";

import * as vscode from "vscode";

/** The workspace folder of a document on disk; undefined for other documents. */
export function folderOf(document: vscode.TextDocument): string | undefined {
  return document.uri.scheme === "file"
    ? vscode.workspace.getWorkspaceFolder(document.uri)?.uri.fsPath
    : undefined;
}

/** The folder of the active file, or else the first folder of the workspace. */
export function currentFolder(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  const folders = vscode.workspace.workspaceFolders?.filter(({ uri }) => uri.scheme === "file");
  return (editor && folderOf(editor.document)) ?? folders?.[0]?.uri.fsPath;
}

/** The git directory of a folder's worktree, which contains HEAD; undefined without git. */
export async function gitDirectory(folder: string): Promise<string | undefined> {
  for (let top = resolve(folder); ; top = dirname(top)) {
    const dotGit = join(top, ".git");
    const found = await stat(dotGit).catch(() => undefined);
    if (found?.isDirectory()) {
      return dotGit;
    }
    if (found?.isFile()) {
      // A linked worktree: a file that names the directory.
      const [, named] = /^gitdir: (.+)$/m.exec(await readFile(dotGit, "utf8")) ?? [];
      return named === undefined || isAbsolute(named) ? named : join(top, named);
    }
    if (dirname(top) === top) {
      return undefined;
    }
  }
}
