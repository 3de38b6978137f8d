/** Places in code that can be opened: lines of a file, or a definition in a commit. */

import { isAbsolute, join } from "node:path";

import * as vscode from "vscode";

import type { ExpandAnswer } from "./answers";
import { type CommandLine, CodelensFailed } from "./command_line";

export interface FilePlace {
  file: string;
  /** From 1; 0 for the whole file. */
  startLine: number;
  endLine: number;
}

/** The scheme of text that is not on disk; its handle has a ref. */
export interface HandlePlace {
  folder: string;
  handle: string;
}

export type OpenPlace = FilePlace | HandlePlace;

export const SCHEME = "codelens";
const SITE = /^(.*):(\d+)$/;

/** Lines of a file in a worktree. */
export function placeIn(root: string, path: string, startLine = 0, endLine = 0): FilePlace {
  return { file: isAbsolute(path) ? path : join(root, path), startLine, endLine };
}

/** Parses `path:line`, as codelens prints the place of a use; undefined if it has no line. */
export function placeOfSite(root: string, site: string): FilePlace | undefined {
  const [, path, line] = SITE.exec(site) ?? [];
  return path === undefined ? undefined : placeIn(root, unescaped(path), Number(line), Number(line));
}

/** The file that a handle without a ref names. */
export function pathOfHandle(handle: string): string {
  return unescaped(handle.replace(/#.*$/, "").replace(/:\d+(-\d+)?$/, ""));
}

/** Handles have `:`, `#`, `%` and control characters of paths percent-escaped. */
function unescaped(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // not UTF-8, so VS Code cannot open it either
  }
}

export async function open(place: OpenPlace): Promise<void> {
  if ("handle" in place) {
    await vscode.window.showTextDocument(uriOf(place), { preview: true });
    return;
  }
  const first = Math.max(place.startLine - 1, 0);
  const range = new vscode.Range(first, 0, first, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(place.file), {
    preview: true,
    selection: range,
  });
}

function uriOf(place: HandlePlace): vscode.Uri {
  // The path keeps the file's extension, from which VS Code derives the language.
  const path = `/${pathOfHandle(place.handle.replace(/^[^:#]*:/, ""))}`;
  return vscode.Uri.from({ scheme: SCHEME, path, query: JSON.stringify(place) });
}

/** Reads the text of a handle, for documents of the scheme `codelens`. */
export class HandleDocuments implements vscode.TextDocumentContentProvider {
  constructor(private readonly commandLine: CommandLine) {}

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const { folder, handle } = JSON.parse(uri.query) as HandlePlace;
    const answer = await this.commandLine.ask<ExpandAnswer>(folder, [
      "expand",
      "--max-lines",
      "100000",
      "--",
      handle,
    ]);
    const result = answer.results[0];
    if (result?.text === undefined) {
      throw new CodelensFailed(result?.error ?? `${handle} has no text`);
    }
    return result.text;
  }
}
