/** Provides Find All References where no language server does. */

import * as vscode from "vscode";

import type { ReferencesAnswer } from "./answers";
import { Cancelled, CodelensFailed, type CommandLine } from "./command_line";
import type { NamedDefinitions } from "./named_definition";
import { placeIn } from "./places";

const MOST_LINES = "5000";

export class References implements vscode.ReferenceProvider {
  private othersAsked = false;

  constructor(
    private readonly commandLine: CommandLine,
    private readonly names: NamedDefinitions,
  ) {}

  async provideReferences(
    document: vscode.TextDocument,
    position: vscode.Position,
    _context: vscode.ReferenceContext,
    cancellation: vscode.CancellationToken,
  ): Promise<vscode.Location[]> {
    // VS Code would show lines twice where a language server answers.
    if (this.othersAsked || (await this.ofOthers(document, position)).length > 0) {
      return [];
    }
    try {
      const [meant] = await this.names.ofWord(document, position, cancellation);
      if (meant === undefined) {
        return [];
      }
      const words = ["references", "--limit", MOST_LINES, "--", meant.handle];
      const answer = await this.commandLine.ask<ReferencesAnswer>(meant.folder, words, cancellation);
      return answer.results
        .filter((result) => result.certain)
        .map((result) => location(answer.receipt.worktree, result.path, result.line));
    } catch (error) {
      if (error instanceof CodelensFailed || error instanceof Cancelled) {
        return []; // the status bar shows the error
      }
      throw error;
    }
  }

  /** The references that other extensions know, such as a language server. */
  async ofOthers(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): Promise<vscode.Location[]> {
    this.othersAsked = true;
    try {
      const locations = await vscode.commands.executeCommand<vscode.Location[] | undefined>(
        "vscode.executeReferenceProvider",
        document.uri,
        position,
      );
      return locations ?? [];
    } finally {
      this.othersAsked = false;
    }
  }
}

function location(root: string, path: string, line: number): vscode.Location {
  const { file } = placeIn(root, path);
  return new vscode.Location(vscode.Uri.file(file), new vscode.Position(line - 1, 0));
}
