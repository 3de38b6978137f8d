/** The MCP server of codelens for the editor's own agents, without a settings file. */

import * as vscode from "vscode";

import type { Program } from "./find_program";
import { currentFolder } from "./worktrees";

export class McpServers implements vscode.McpServerDefinitionProvider {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeMcpServerDefinitions = this.changed.event;

  /**
   * @param program gives codelens, or undefined if it is not installed.
   * @param enabled tells whether the server is wanted.
   */
  constructor(
    private readonly program: () => Promise<Program | undefined>,
    private readonly enabled: () => boolean,
  ) {}

  dispose(): void {
    this.changed.dispose();
  }

  /** To be called when the program or the folder may be another one. */
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

/** Register the server where the editor has such an interface; forks of VS Code may not. */
export function offerServers(servers: McpServers): vscode.Disposable[] {
  const lm = vscode.lm as typeof vscode.lm | undefined;
  return lm?.registerMcpServerDefinitionProvider === undefined
    ? []
    : [lm.registerMcpServerDefinitionProvider("codelens", servers)];
}
