/** The status bar: branch, whether answers are complete, and conflicts with other worktrees. */

import * as vscode from "vscode";

import type { ConflictsAnswer, Receipt, StatusAnswer } from "./answers";
import { CodelensFailed, type CommandLine, NotInstalled } from "./command_line";
import { basisOf, rivalsInConflict } from "./result_nodes";

const LOOK_BUDGET_MS = "500";
const POLL_BUDGET_MS = "200";
const POLL_MS = 1_000;
const CONFLICTS_BUDGET_MS = "5000";
const CONFLICTS_EVERY_MS = 60_000;

export class FreshnessStatus {
  private readonly item: vscode.StatusBarItem;
  private looking = false;
  private again = false;
  private disposed = false;
  private conflictsAskedAt = Number.NEGATIVE_INFINITY;
  private conflictsOf = "";
  private rivals: string[] = [];

  /**
   * @param folder returns the folder to ask about.
   * @param watchConflicts returns whether to look for conflicts.
   */
  constructor(
    private readonly commandLine: CommandLine,
    private readonly folder: () => string | undefined,
    private readonly watchConflicts: () => boolean,
  ) {
    this.item = vscode.window.createStatusBarItem("codelens.status", vscode.StatusBarAlignment.Left);
    this.item.name = "codelens";
  }

  dispose(): void {
    this.disposed = true;
    this.item.dispose();
  }

  /** Asks once, or once more after the current question. */
  async refresh(): Promise<void> {
    if (this.looking) {
      this.again = true;
      return;
    }
    this.looking = true;
    try {
      do {
        this.again = false;
        await this.look();
      } while (this.again && !this.disposed);
    } finally {
      this.looking = false;
    }
  }

  private async look(): Promise<void> {
    const folder = this.folder();
    if (folder === undefined) {
      this.item.hide();
      return;
    }
    try {
      let status = await this.status(folder, LOOK_BUDGET_MS);
      if (status.receipt.status === "partial") {
        status = await this.indexed(folder, status);
      }
      this.show(status);
      await this.lookForConflicts(folder, status);
    } catch (error) {
      this.showProblem(error);
    }
  }

  private status(folder: string, budget: string): Promise<StatusAnswer> {
    return this.commandLine.ask<StatusAnswer>(folder, ["status", "--budget", budget]);
  }

  /** Indexes pending files and shows the progress. */
  private async indexed(folder: string, before: StatusAnswer): Promise<StatusAnswer> {
    this.show(before);
    let done = false;
    const indexing = this.commandLine
      .ask<StatusAnswer>(folder, ["index"])
      .finally(() => (done = true));
    const polling = (async () => {
      while (!done && !this.disposed) {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        const status = done ? undefined : await this.status(folder, POLL_BUDGET_MS);
        if (status !== undefined && !done) {
          this.show(status);
        }
      }
    })();
    // Indexing also reports the error of a poll.
    const [answer] = await Promise.all([indexing, polling.catch(() => undefined)]);
    return answer;
  }

  private async lookForConflicts(folder: string, status: StatusAnswer): Promise<void> {
    const about = `${folder}@${status.receipt.head}`;
    const due =
      about !== this.conflictsOf || Date.now() - this.conflictsAskedAt >= CONFLICTS_EVERY_MS;
    if (status.status.kind !== "worktree" || !status.receipt.head || !this.watchConflicts()) {
      this.rivals = [];
    } else if (due) {
      this.conflictsOf = about;
      this.conflictsAskedAt = Date.now();
      const answer = await this.commandLine.ask<ConflictsAnswer>(folder, [
        "conflicts",
        "--budget",
        CONFLICTS_BUDGET_MS,
      ]);
      this.rivals = rivalsInConflict(answer).map((rival) => rival.name);
    }
    this.show(status);
  }

  private show({ receipt, status }: StatusAnswer): void {
    const conflicts = this.rivals.length;
    this.item.text = [
      `${receipt.status === "partial" ? "$(sync~spin)" : "$(git-branch)"} ${branchOf(receipt)}`,
      progressOf(receipt),
      conflicts ? `$(warning) ${conflicts} ${conflicts === 1 ? "conflict" : "conflicts"}` : "",
    ]
      .filter(Boolean)
      .join(" · ");
    this.item.tooltip = [
      `codelens: ${basisOf(receipt)}`,
      `${status.root}: ${receipt.files} files`,
      ...this.rivals.map((name) => `conflicts with ${name}`),
      ...status.others,
    ].join("\n");
    this.item.command = "codelens.menu";
    this.item.backgroundColor = conflicts
      ? new vscode.ThemeColor("statusBarItem.warningBackground")
      : undefined;
    this.item.show();
  }

  private showProblem(error: unknown): void {
    if (!(error instanceof CodelensFailed)) {
      throw error;
    }
    this.item.text = "$(error) codelens";
    this.item.tooltip = error.message;
    this.item.command = error instanceof NotInstalled ? "codelens.install" : "codelens.menu";
    this.item.show();
  }
}

function branchOf(receipt: Receipt): string {
  return receipt.branch || (receipt.head ? receipt.head.slice(0, 7) : "no git");
}

function progressOf(receipt: Receipt): string {
  if (receipt.status !== "partial") {
    return receipt.status;
  }
  const pending = receipt.pending ? `, ${receipt.pending} pending` : "";
  return `partial: ${receipt.checked} of ${receipt.files} files${pending}`;
}
