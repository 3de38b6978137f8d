/** Finds the codelens program. */

import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  platform: string;
}

export interface Program {
  path: string;
  version: string;
}

const VERSION = /^codelens (\d+\.\d+\.\d+\S*)/;

/**
 * The program from the settings, or else the first codelens on the PATH, or else the one in
 * ~/.local/bin, where uv, pipx and install.sh put it.
 *
 * It skips other programs of that name, and relative folders in the PATH, because a repository
 * could contain a program there.
 */
export async function findProgram(
  chosen: string,
  around: Surroundings,
): Promise<Program | undefined> {
  const candidates = chosen ? [withHome(chosen, around.home)] : usualPlaces(around);
  for (const path of candidates) {
    const version = isAbsolute(path) ? await versionOf(path) : undefined;
    if (version !== undefined) {
      return { path, version };
    }
  }
  return undefined;
}

function withHome(path: string, home: string): string {
  return path.startsWith("~/") || path.startsWith("~\\") ? join(home, path.slice(2)) : path;
}

function usualPlaces(around: Surroundings): string[] {
  const name = around.platform === "win32" ? "codelens.exe" : "codelens";
  const searched = (around.env["PATH"] ?? around.env["Path"] ?? "").split(delimiter);
  const folders = [...searched, join(around.home, ".local", "bin")];
  return [...new Set(folders.filter(isAbsolute).map((folder) => join(folder, name)))];
}

/** The output of `--version`; undefined if it is another program or none. */
async function versionOf(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK);
  } catch {
    return undefined;
  }
  return new Promise((resolve) => {
    execFile(path, ["--version"], { timeout: 20_000, windowsHide: true }, (_error, stdout) =>
      resolve(VERSION.exec(stdout)?.[1]),
    );
  });
}
