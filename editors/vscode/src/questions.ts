/** The commands that ask codelens something and show the answer. */

import * as vscode from "vscode";

import type {
  ConflictsAnswer,
  HistoryAnswer,
  ImpactAnswer,
  NotesAnswer,
  RelatedAnswer,
  SearchAnswer,
  StatusAnswer,
} from "./answers";
import type { Cancellation, CommandLine } from "./command_line";
import type { Meant, NamedDefinitions } from "./named_definition";
import {
  basisOf,
  conflictsResults,
  historyResults,
  impactResults,
  notesResults,
  relatedResults,
  type Results,
  searchResults,
} from "./result_nodes";
import type { ResultsView } from "./results_view";
import { currentFolder } from "./worktrees";

/** The argument that a lens or a hover passes to a command. */
export type Asked = Pick<Meant, "folder" | "handle">;

const NO_FOLDER = "Open a folder first: codelens answers questions about a folder on this machine.";

export class Questions {
  constructor(
    private readonly commandLine: CommandLine,
    private readonly names: NamedDefinitions,
    private readonly view: ResultsView,
  ) {}

  async search(query?: string): Promise<void> {
    const words =
      query ??
      (await vscode.window.showInputBox({
        title: "codelens: Search",
        prompt: "What the code does, a name, an error message or a stack trace",
        value: selectedText(),
      }));
    if (words?.trim()) {
      await this.answer("searching", ["search", "--limit", "30", "--", words], (answer: SearchAnswer) =>
        searchResults(answer),
      );
    }
  }

  async callers(asked?: Asked): Promise<void> {
    const meant = asked ?? (await this.chosen());
    if (meant !== undefined) {
      const words = ["related", "--direction", "in", "--limit", "200", "--", meant.handle];
      await this.answer(
        `looking for uses of ${meant.handle}`,
        words,
        (answer: RelatedAnswer) => relatedResults(answer),
        meant.folder,
      );
    }
  }

  async history(asked?: Asked): Promise<void> {
    const meant = asked ?? (await this.chosen());
    if (meant !== undefined) {
      await this.answer(
        `reading the history of ${meant.handle}`,
        ["history", "--limit", "50", "--", meant.handle],
        (answer: HistoryAnswer) => historyResults(answer),
        meant.folder,
      );
    }
  }

  async impact(): Promise<void> {
    await this.answer(
      "looking for what your changes affect",
      ["impact", "--diff", "--limit", "200"],
      (answer: ImpactAnswer) => impactResults(answer),
    );
  }

  async conflicts(): Promise<void> {
    await this.answer(
      "comparing with other worktrees and branches",
      ["conflicts"],
      (answer: ConflictsAnswer) => conflictsResults(answer),
    );
  }

  async notes(): Promise<void> {
    await this.answer("reading notes", ["load", "--limit", "200"], (answer: NotesAnswer) =>
      notesResults(answer),
    );
  }

  /** Updates the index. */
  async index(): Promise<void> {
    const answer = await this.ask<StatusAnswer>("updating the index", ["index"]);
    if (answer !== undefined) {
      const { receipt } = answer;
      vscode.window.showInformationMessage(
        `codelens: ${basisOf(receipt)}; ${receipt.checked} files checked`,
      );
    }
  }

  private async answer<Answer>(
    doing: string,
    words: string[],
    results: (answer: Answer) => Results,
    folder?: string,
  ): Promise<void> {
    const answer = await this.ask<Answer>(doing, words, folder);
    if (answer !== undefined) {
      await this.view.show(results(answer));
    }
  }

  private async ask<Answer>(
    doing: string,
    words: string[],
    folder = currentFolder(),
  ): Promise<Answer | undefined> {
    if (folder === undefined) {
      vscode.window.showWarningMessage(NO_FOLDER);
      return undefined;
    }
    const options = {
      location: vscode.ProgressLocation.Notification,
      title: `codelens: ${doing}`,
      cancellable: true,
    };
    return vscode.window.withProgress(options, (_progress, cancellation: Cancellation) =>
      this.commandLine.ask<Answer>(folder, words, cancellation),
    );
  }

  /** The definition that the word at the cursor names, or else the one around the cursor. */
  private async chosen(): Promise<Meant | undefined> {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) {
      vscode.window.showWarningMessage("Put the cursor on a definition first.");
      return undefined;
    }
    const { document } = editor;
    const position = editor.selection.active;
    const named = await this.names.ofWord(document, position);
    const choices = named.length > 0 ? named : [await this.names.around(document, position)];
    const [only, another] = choices;
    if (only === undefined) {
      vscode.window.showWarningMessage(
        "The saved file has no definition at the cursor.",
      );
    }
    return another === undefined
      ? only
      : vscode.window.showQuickPick(named, { title: "Several definitions have this name" });
  }
}

function selectedText(): string {
  const editor = vscode.window.activeTextEditor;
  return editor === undefined ? "" : editor.document.getText(editor.selection);
}
