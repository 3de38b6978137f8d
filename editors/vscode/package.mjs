/**
 * Makes the .vsix: `npm run package`.
 *
 * The package brings a wheel of this very codelens and its install scripts, so that nobody has to
 * find the program first. PYTHON names the interpreter that builds the wheel.
 */

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const VSCE = "@vscode/vsce@3.9.2";
const here = dirname(fileURLToPath(import.meta.url));
const repository = join(here, "..", "..");
const bundle = join(here, "bundle");
const python = process.env.PYTHON ?? "python3";
const windows = process.platform === "win32";

rmSync(bundle, { recursive: true, force: true });
mkdirSync(bundle);
execFileSync(
  python,
  ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", bundle, repository],
  { stdio: "inherit" },
);
for (const script of ["install.sh", "install.ps1"]) {
  copyFileSync(join(repository, "install", script), join(bundle, script));
}
copyFileSync(join(repository, "LICENSE"), join(here, "LICENSE"));
execFileSync(
  windows ? "npx.cmd" : "npx",
  ["--yes", VSCE, "package", "--no-dependencies", "--skip-license", "--allow-missing-repository"],
  { cwd: here, stdio: "inherit", shell: windows },
);
