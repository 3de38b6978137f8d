/** Runs `codelens ... --json` and parses its output. */

import { spawn } from "node:child_process";

/** codelens could not answer; the message is for the user. */
export class CodelensFailed extends Error {}

/** The codelens program was not found. */
export class NotInstalled extends CodelensFailed {
  constructor() {
    super("codelens is not installed; run the command “codelens: Install the codelens Command”");
  }
}

/** The caller no longer waits for the answer. */
export class Cancelled extends Error {}

/** The part of `vscode.CancellationToken` that is used here. */
export interface Cancellation {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(listener: () => void): { dispose(): void };
}

interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

const MOST_BYTES = 64 * 1024 * 1024;
const ERROR_PREFIX = "codelens: error:";

/** A queue of processes: opening a file asks about all visible definitions at once. */
export class CommandLine {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  /**
   * @param program returns the path of codelens, or undefined if it is not installed.
   * @param atOnce how many processes may run at a time.
   */
  constructor(
    private readonly program: () => Promise<string | undefined>,
    private readonly atOnce = 2,
  ) {}

  /**
   * The answer of a command.
   *
   * @param folder any folder inside the worktree to ask about.
   * @throws NotInstalled, CodelensFailed, Cancelled
   */
  async ask<Answer>(folder: string, words: string[], cancellation?: Cancellation): Promise<Answer> {
    const program = await this.program();
    if (program === undefined) {
      throw new NotInstalled();
    }
    await this.turn();
    try {
      if (cancellation?.isCancellationRequested) {
        throw new Cancelled();
      }
      return answerOf<Answer>(words, await run(program, words, folder, cancellation));
    } finally {
      this.pass();
    }
  }

  private async turn(): Promise<void> {
    if (this.running < this.atOnce) {
      this.running += 1;
    } else {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  /** Starts the next process when one has ended. */
  private pass(): void {
    const next = this.waiting.shift();
    if (next === undefined) {
      this.running -= 1;
    } else {
      next();
    }
  }
}

/** Adds `--json` before a `--` that ends the options. */
function withJson(words: string[]): string[] {
  const end = words.indexOf("--");
  return end < 0
    ? [...words, "--json"]
    : [...words.slice(0, end), "--json", ...words.slice(end)];
}

function run(
  program: string,
  words: string[],
  folder: string,
  cancellation?: Cancellation,
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, withJson(words), {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let size = 0;
    const listening = cancellation?.onCancellationRequested(() => child.kill());
    child.stdout.on("data", (part: Buffer) => {
      size += part.length;
      if (size > MOST_BYTES) {
        child.kill();
      } else {
        stdout.push(part);
      }
    });
    child.stderr.on("data", (part: Buffer) => stderr.push(part));
    child.on("error", (error) => {
      listening?.dispose();
      reject(new CodelensFailed(`${program} cannot be started in ${folder}: ${error.message}`));
    });
    child.on("close", (code) => {
      listening?.dispose();
      if (cancellation?.isCancellationRequested) {
        reject(new Cancelled());
      } else if (size > MOST_BYTES) {
        reject(new CodelensFailed(`codelens ${words[0]} answered with more than 64 MB; ask for less`));
      } else {
        resolve({
          code,
          stdout: Buffer.concat(stdout).toString("utf8"),
          stderr: Buffer.concat(stderr).toString("utf8"),
        });
      }
    });
  });
}

/** Exit code 1 is an answer without results; 2 has the reason on stderr. */
function answerOf<Answer>(words: string[], finished: Finished): Answer {
  if (finished.code !== 0 && finished.code !== 1) {
    throw new CodelensFailed(reasonOf(words, finished));
  }
  try {
    return JSON.parse(finished.stdout) as Answer;
  } catch {
    throw new CodelensFailed(
      `codelens ${words[0]} did not print JSON; run it in a terminal: codelens ${words.join(" ")}`,
    );
  }
}

function reasonOf(words: string[], finished: Finished): string {
  const line = finished.stderr.split("\n").find((text) => text.startsWith(ERROR_PREFIX));
  return line === undefined
    ? `codelens ${words[0]} ended with code ${finished.code}: ${finished.stderr.trim().slice(-300)}`
    : line.slice(ERROR_PREFIX.length).trim();
}
