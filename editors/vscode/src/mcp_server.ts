/** Registers codelens's MCP server for the editor's own agents, without a settings file. */

import * as vscode from "vscode";

import type { Program } from "./find_program";
import { currentFolder } from "./worktrees";

export class McpServers implements vscode.McpServerDefinitionProvider {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeMcpServerDefinitions = this.changed.event;

  /**
   * @param program returns the path of codelens, or undefined if it is not installed.
   * @param enabled returns whether the server is enabled.
   */
  constructor(
    private readonly program: () => Promise<Program | undefined>,
    private readonly enabled: () => boolean,
  ) {}

  dispose(): void {
    this.changed.dispose();
  }

  /** Call this when the program or the folder may have changed. */
  refresh(): void {
    this.changed.fire();
  }

  async provideMcpServerDefinitions(): Promise<vscode.McpServerDefinition[]> {
    const program = this.enabled() ? await this.program() : undefined;
    if (program === undefined) {
      return [];
    }
    const folder = currentFolder();
    const words = folder === undefined ? ["serve"] : ["serve", "--root", folder];
    const server = new vscode.McpStdioServerDefinition(
      "codelens",
      program.path,
      words,
      {},
      program.version,
    );
    if (folder !== undefined) {
      server.cwd = vscode.Uri.file(folder);
    }
    return [server];
  }
}

/** Registers the server if the editor has this interface; forks of VS Code may not have it. */
export function offerServers(servers: McpServers): vscode.Disposable[] {
  const lm = vscode.lm as typeof vscode.lm | undefined;
  return lm?.registerMcpServerDefinitionProvider === undefined
    ? []
    : [lm.registerMcpServerDefinitionProvider("codelens", servers)];
}
