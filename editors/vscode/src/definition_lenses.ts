/** Lenses above definitions: uses, the last change, and changes in other worktrees. */

import { basename } from "node:path";

import * as vscode from "vscode";

import { CodelensFailed } from "./command_line";
import { changeText, type FileFacts, usesText } from "./file_facts";
import { folderOf } from "./worktrees";

/** Kinds of definitions that get a lens; data, prose and fields would be too many. */
const KINDS = new Set(
  "function method class struct union interface trait enum type module macro".split(" "),
);
const LONGEST_TITLE = 100;

class DefinitionLens extends vscode.CodeLens {
  constructor(
    line: number,
    readonly about: { folder: string; file: string; handle: string },
    readonly fact: "uses" | "change" | "elsewhere",
  ) {
    super(new vscode.Range(line, 0, line, 0));
  }
}

export class DefinitionLenses implements vscode.CodeLensProvider {
  readonly onDidChangeCodeLenses: vscode.Event<void>;
  private readonly last = new Map<string, DefinitionLens[]>();

  /** @param enabled returns whether lenses are enabled. */
  constructor(
    private readonly facts: FileFacts,
    private readonly enabled: () => boolean,
  ) {
    this.onDidChangeCodeLenses = facts.onDidChange;
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const folder = folderOf(document);
    if (folder === undefined || !this.enabled()) {
      return [];
    }
    const name = document.uri.toString();
    if (document.isDirty) {
      return this.last.get(name) ?? []; // codelens only reads saved files
    }
    try {
      const lenses = await this.lensesOf(folder, document.uri.fsPath);
      this.last.set(name, lenses);
      return lenses;
    } catch (error) {
      return this.nothing(error);
    }
  }

  /** Moves the lenses of an edited document with its text. */
  edited({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const name = document.uri.toString();
    let lenses = this.last.get(name);
    for (const { range, text } of contentChanges) {
      const added = text.split("\n").length - 1 - (range.end.line - range.start.line);
      lenses = lenses?.map((lens) => {
        const line = lens.range.start.line;
        const below = line > range.start.line || (line === range.start.line && !range.start.character);
        return below && added !== 0
          ? new DefinitionLens(Math.max(line + added, range.start.line), lens.about, lens.fact)
          : lens;
      });
    }
    if (lenses !== undefined) {
      this.last.set(name, lenses);
    }
  }

  closed(document: vscode.TextDocument): void {
    this.last.delete(document.uri.toString());
  }

  async resolveCodeLens(lens: vscode.CodeLens): Promise<vscode.CodeLens> {
    if (lens instanceof DefinitionLens) {
      try {
        lens.command = await this.commandOf(lens);
      } catch (error) {
        this.nothing(error);
        lens.command = { title: "", command: "" };
      }
    }
    return lens;
  }

  private async lensesOf(folder: string, file: string): Promise<DefinitionLens[]> {
    const items = await this.facts.outline(folder, file);
    const [changes, elsewhere] = await Promise.all([
      this.facts.lastChanges(folder, file),
      this.facts.changedElsewhere(folder, file),
    ]);
    return items
      .filter((item) => KINDS.has(item.kind))
      .flatMap(({ handle, start_line }) => {
        const about = { folder, file, handle };
        const line = start_line - 1;
        return [
          new DefinitionLens(line, about, "uses"),
          ...(changes.has(handle) ? [new DefinitionLens(line, about, "change")] : []),
          ...(elsewhere.has(handle) ? [new DefinitionLens(line, about, "elsewhere")] : []),
        ];
      });
  }

  private async commandOf({ about, fact }: DefinitionLens): Promise<vscode.Command> {
    const { folder, file, handle } = about;
    const command = (title: string, name: string) => ({
      title: shortened(title),
      tooltip: title,
      command: `codelens.${name}`,
      arguments: [{ folder, handle }],
    });
    if (fact === "uses") {
      return command(usesText(await this.facts.uses(folder, handle)), "callers");
    }
    if (fact === "change") {
      const change = (await this.facts.lastChanges(folder, file)).get(handle);
      return command(change === undefined ? "" : changeText(change), "history");
    }
    const worktrees = (await this.facts.changedElsewhere(folder, file)).get(handle) ?? [];
    const names = worktrees.map((worktree) => basename(worktree)).join(", ");
    return command(`also being changed in worktree ${names}`, "conflicts");
  }

  /** Lenses stay silent on errors: the status bar shows them. */
  private nothing(error: unknown): [] {
    if (error instanceof CodelensFailed) {
      return [];
    }
    throw error;
  }
}

function shortened(title: string): string {
  return title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE - 1)}…` : title;
}
