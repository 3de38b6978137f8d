/** Finds codelens, offers to install it, and runs its commands in a terminal. */

import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

import * as vscode from "vscode";

import { NotInstalled } from "./command_line";
import { findProgram, type Program } from "./find_program";
import { currentFolder } from "./worktrees";

const INSTALL = "Install";
const CHOOSE = "Choose the Program";

export class Installation {
  private found: Promise<Program | undefined> | undefined;
  private readonly changed = new vscode.EventEmitter<void>();
  /** Fires when the program may have changed. */
  readonly onDidChange = this.changed.event;

  /** @param bundle the folder of the package with the wheel and the install scripts. */
  constructor(private readonly bundle: string) {}

  dispose(): void {
    this.changed.dispose();
  }

  /** The program; searches again until it is found. */
  async program(): Promise<Program | undefined> {
    const chosen = vscode.workspace.getConfiguration("codelens").get("path", "");
    this.found ??= findProgram(chosen, {
      env: process.env,
      home: homedir(),
      platform: process.platform,
    });
    const program = await this.found;
    if (program === undefined) {
      this.found = undefined;
    }
    return program;
  }

  /** Searches for the program again. */
  forget(): void {
    this.found = undefined;
    this.changed.fire();
  }

  /** Says that codelens is missing, and offers solutions. */
  async offer(): Promise<void> {
    const choice = await vscode.window.showWarningMessage(
      "The codelens extension needs the program codelens, which was not found.",
      INSTALL,
      CHOOSE,
    );
    if (choice === INSTALL) {
      await this.install();
    } else if (choice === CHOOSE) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "codelens.path");
    }
  }

  /** Installs the codelens of this package with uv, pipx or a venv. */
  async install(): Promise<void> {
    const names = await readdir(this.bundle).catch(() => []);
    const wheel = names.find((name) => name.endsWith(".whl"));
    if (wheel === undefined) {
      vscode.window.showErrorMessage(
        "This build of the extension has no copy of codelens; install it from its repository " +
          "with `sh install/install.sh`, then reload the window.",
      );
      return;
    }
    const source = join(this.bundle, wheel);
    const [shell, ...words] =
      process.platform === "win32"
        ? ["powershell", "-ExecutionPolicy", "Bypass", "-File", join(this.bundle, "install.ps1")]
        : ["sh", join(this.bundle, "install.sh")];
    const options = process.platform === "win32" ? ["-From", source, "-NoAgents"] : ["--from", source, "--no-agents"];
    const code = await runInTerminal("install codelens", shell ?? "sh", [...words, ...options]);
    this.forget();
    if (code !== 0 || (await this.program()) === undefined) {
      vscode.window.showErrorMessage(
        "codelens was not installed; the terminal “install codelens” says why.",
      );
    } else {
      vscode.window.showInformationMessage("codelens is installed.");
    }
  }

  /** Runs a command in a terminal, where it can ask and report. */
  async inTerminal(title: string, words: string[]): Promise<void> {
    const program = await this.program();
    if (program === undefined) {
      throw new NotInstalled();
    }
    await runInTerminal(title, program.path, words);
  }
}

/** Runs a program in a terminal of the editor; returns its exit code, undefined if it was ended. */
async function runInTerminal(
  title: string,
  program: string,
  words: string[],
): Promise<number | undefined> {
  const folder = currentFolder();
  const task = new vscode.Task(
    { type: "codelens", title },
    vscode.TaskScope.Workspace,
    title,
    "codelens",
    new vscode.ProcessExecution(program, words, folder === undefined ? {} : { cwd: folder }),
  );
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, focus: true };
  const ended = new Promise<number | undefined>((resolve) => {
    const listening = vscode.tasks.onDidEndTaskProcess(({ execution, exitCode }) => {
      if (execution.task.name === title && execution.task.source === "codelens") {
        listening.dispose();
        resolve(exitCode);
      }
    });
  });
  await vscode.tasks.executeTask(task);
  return ended;
}
