/** The side bar view with the last answer. */

import * as vscode from "vscode";

import type { ResultNode, Results } from "./result_nodes";

export const VIEW = "codelens.results";
const MOST_SHOWN_OPEN = 150;

export class ResultsView implements vscode.TreeDataProvider<ResultNode> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private nodes: ResultNode[] = [];
  private readonly view: vscode.TreeView<ResultNode>;

  constructor() {
    this.view = vscode.window.createTreeView(VIEW, { treeDataProvider: this });
  }

  dispose(): void {
    this.view.dispose();
    this.changed.dispose();
  }

  /** Shows another answer, and brings the view to the front. */
  async show(results: Results): Promise<void> {
    this.nodes = results.nodes;
    this.view.title = results.title;
    this.view.description = results.basis;
    this.view.message = this.nodes.length > 0 ? "" : "Nothing was found.";
    this.changed.fire();
    await vscode.commands.executeCommand(`${VIEW}.focus`);
  }

  getChildren(node?: ResultNode): ResultNode[] {
    return node === undefined ? this.nodes : (node.children ?? []);
  }

  getTreeItem(node: ResultNode): vscode.TreeItem {
    const item = new vscode.TreeItem(node.label, this.collapsible(node));
    item.description = node.description ?? "";
    item.tooltip = node.tooltip ?? node.label;
    if (node.icon !== undefined) {
      item.iconPath = new vscode.ThemeIcon(node.icon);
    }
    if (node.place !== undefined) {
      item.command = { command: "codelens.open", title: "Open", arguments: [node.place] };
    }
    return item;
  }

  /** Expands groups, but not the places of a result that can itself be opened. */
  private collapsible(node: ResultNode): vscode.TreeItemCollapsibleState {
    if (!node.children?.length) {
      return vscode.TreeItemCollapsibleState.None;
    }
    return node.place === undefined && node.children.length <= MOST_SHOWN_OPEN
      ? vscode.TreeItemCollapsibleState.Expanded
      : vscode.TreeItemCollapsibleState.Collapsed;
  }
}
