// Conflicts that a merge with other worktrees and branches would have, on one board.

import { badge, count, el, remarks } from "./elements.js";
import { address, codeAddress, scope } from "./places.js";
import { follow } from "./questions.js";

const GRADES = [["certain", "bad"], ["likely", "fair"], ["possible", ""], ["harmless", "good"]];

export function showConflicts({ main, page, signal }) {
  main.replaceChildren(el("h1", {}, "Conflicts"), el("p", {}, "Comparing all worktrees and recent branches..."));
  follow("conflicts", { ...scope(), ref: "" }, (answer, failure) => {
    if (failure) {
      main.replaceChildren(el("h1", {}, "Conflicts"), el("p", { class: "failure" }, failure));
      return;
    }
    page.receipt(answer.receipt);
    main.replaceChildren(
      el("h1", {}, "Conflicts"),
      el("p", {}, sentence(answer)),
      remarks(answer.notes),
      answer.left_out.length ? remarks([`not compared: ${answer.left_out.join(", ")}`]) : "",
      el("div", { class: "board" }, answer.results.map(rival)));
  }, signal);
}

function sentence({ results, clean }) {
  const all = results.length + clean;
  if (!all) return "No other worktree or recent branch exists.";
  const touching = results.length === 1 ? "1 touches" : `${results.length || "none"} touch`;
  return all === 1
    ? `The only other worktree or recent branch ${clean ? "does not touch" : "touches"} the same code.`
    : `Of ${all} other worktrees and recent branches ${touching} the same code.`;
}

function rival(row) {
  return el("section", { class: "card", "aria-label": row.branch || row.name },
    el("h2", {}, row.branch || row.name),
    el("p", { class: "doc" }, row.name, row.uncommitted ? `, ${count(row.uncommitted, "uncommitted file")}` : ""),
    remarks(row.notes),
    row.textual.length ? el("div", {}, el("h3", {}, badge("git", "bad"), " cannot merge"),
      el("ul", {}, row.textual.map((conflict) => el("li", {}, el("a", { class: "item", href: codeAddress(conflict.path) }, conflict.path),
        " ", conflict.harmless ? badge("harmless", "good") : el("span", { class: "doc" }, conflict.kind))))) : "",
    GRADES.map(([grade, kind]) => {
      const lines = row.collisions.filter((line) => line.grade === grade);
      return lines.length ? el("details", { open: grade !== "harmless" },
        el("summary", {}, badge(grade, kind), ` ${lines.length}`),
        el("ul", {}, lines.map((line) => collision(line, row)))) : "";
    }));
}

const collision = (line, row) => el("li", {}, line.message, " ",
  line.mine ? el("a", { class: "item site", href: codeAddress(line.mine), title: line.mine }, `here ${line.mine_site.split(":").pop()}`) : "", " ",
  line.theirs ? el("a", { class: "site", href: thereAddress(line.theirs, row), title: line.theirs }, `there ${line.theirs_site}`) : "");

const thereAddress = (handle, row) => row.kind === "worktree"
  ? address("code", { target: handle, worktree: row.name, ref: "" })
  : codeAddress(handle);
