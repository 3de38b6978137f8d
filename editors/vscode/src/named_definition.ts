/** Finds the definition that a place in a file names. */

import * as vscode from "vscode";

import type { OutlineItem, SearchAnswer } from "./answers";
import type { Cancellation, CommandLine } from "./command_line";
import type { FileFacts } from "./file_facts";
import { folderOf } from "./worktrees";

export interface Meant {
  folder: string;
  handle: string;
  /** The name for the user. */
  label: string;
}

const MOST_OWNERS = "20";

export class NamedDefinitions {
  constructor(
    private readonly commandLine: CommandLine,
    private readonly facts: FileFacts,
  ) {}

  /**
   * The definitions that the word at a place may name: the one defined there, or else all
   * of that name in the worktree. Text alone cannot decide between several.
   */
  async ofWord(
    document: vscode.TextDocument,
    position: vscode.Position,
    cancellation?: Cancellation,
  ): Promise<Meant[]> {
    const folder = folderOf(document);
    const range = document.getWordRangeAtPosition(position);
    if (folder === undefined || range === undefined) {
      return [];
    }
    const word = document.getText(range);
    const own = innermost(await this.outline(document, folder), position.line + 1);
    if (own !== undefined && lastPart(own.name) === word) {
      return [meant(folder, own)];
    }
    const answer = await this.commandLine.ask<SearchAnswer>(
      folder,
      ["search", "--mode", "symbol", "--limit", MOST_OWNERS, "--", word],
      cancellation,
    );
    return answer.results
      .filter((result) => lastPart(result.symbol) === word)
      .map((result) => ({ folder, handle: result.handle, label: result.handle }));
  }

  /** The definition that contains a place. */
  async around(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): Promise<Meant | undefined> {
    const folder = folderOf(document);
    if (folder === undefined) {
      return undefined;
    }
    const own = innermost(await this.outline(document, folder), position.line + 1);
    return own && meant(folder, own);
  }

  private outline(document: vscode.TextDocument, folder: string): Promise<OutlineItem[]> {
    return this.facts.outline(folder, document.uri.fsPath);
  }
}

function meant(folder: string, item: OutlineItem): Meant {
  return { folder, handle: item.handle, label: item.name };
}

/** The smallest definition around a line, which counts from 1. */
export function innermost(items: OutlineItem[], line: number): OutlineItem | undefined {
  const around = items.filter((item) => item.start_line <= line && line <= item.end_line);
  return around.sort((a, b) => a.end_line - a.start_line - (b.end_line - b.start_line))[0];
}

/** `validate` of `Session.validate`. */
export function lastPart(qualified: string): string {
  return qualified.slice(qualified.lastIndexOf(".") + 1);
}
