// The start of the page: work that is not committed, worktrees, conflicts, and where to begin.

import { badge, count, el, remarks } from "./elements.js";
import { address, codeAddress, scope, shortNames } from "./places.js";
import { follow } from "./questions.js";

const MOST = 8;
const MAP_TOKENS = 1_500;

export function showHome({ main, page, signal }) {
  const title = el("div", {});
  const [work, commits, conflicts, begin, used] = ["Uncommitted work", "Recent commits", "Conflicts", "Entry points", "Most used"].map(card);
  const worktrees = card("Worktrees");
  let latest = [];
  const drawPage = () => {
    title.replaceChildren(...headOf(page));
    fill(worktrees, worktreeRows(page, new Map(latest)));
  };
  main.replaceChildren(title, el("div", { class: "board home" }, work, conflicts, worktrees, commits, begin, used));
  drawPage();
  document.addEventListener("standing", drawPage, { signal });
  const here = { ...scope(), ref: "" };
  if (scope().ref) work.hidden = conflicts.hidden = true; // A ref has no files to change.
  else {
    follow("diff", here, (answer, failure) => fill(work, failure ?? workRows(answer)), signal);
    follow("conflicts", here, (answer, failure) => fill(conflicts, failure ?? conflictRows(answer)), signal);
  }
  follow("recent", scope(), (answer, failure) => {
    fill(commits, failure ?? answer.commits.slice(0, MOST).map((row) => commitRow(row)));
    latest = answer?.worktrees ?? [];
    drawPage();
  }, signal);
  follow("map", { tokens: MAP_TOKENS, ...scope() }, (answer, failure) => {
    fill(begin, failure ?? answer.entries.slice(0, MOST).map((row) => [row.handle, row.name, row.why]).map(place));
    fill(used, failure ?? answer.hot.slice(0, MOST).map(({ thing, users, at_least: least }) =>
      place([thing.handle, thing.symbol || thing.path, `${thing.kind}, ${least ? "at least " : ""}${count(users, "user")}`])));
  }, signal, { again: false });
}

const card = (title) => el("section", { class: "card" }, el("h2", {}, title), el("div", {}, el("p", { class: "doc" }, "Loading...")));

function fill(part, rows) {
  const isText = typeof rows === "string";
  part.lastElementChild.replaceChildren(
    isText ? el("p", { class: "failure" }, rows)
      : rows.length ? el("ul", { class: "list" }, rows.map((row) => el("li", {}, row))) : el("p", { class: "doc" }, "None."));
}

function headOf({ status }) {
  if (!status) return [el("h1", {}, "This repository")];
  return [
    el("h1", {}, status.root.split(/[\\/]/).filter(Boolean).pop(), " ", badge(status.branch || (status.head ? `at ${status.head.slice(0, 7)}` : "no git"))),
    el("p", {}, `${count(status.files, "file")}${status.dirty ? ", with uncommitted changes" : ""}. Type words, a name, a path, or paste a stack trace; `,
      el("kbd", {}, "/"), " searches, ", el("kbd", {}, "?"), " lists all keys."),
    el("ul", { class: "chips" }, Object.entries(status.languages).slice(0, 12).map(([name, files]) =>
      el("li", {}, `${name} ${files.toLocaleString("en")}`))),
    remarks(status.others),
  ].filter(Boolean);
}

const place = ([handle, name, why]) => [
  el("a", { class: "item", href: codeAddress(handle) }, name), " ", el("span", { class: "doc" }, why)];

function workRows(answer) {
  const rows = answer.results.flatMap((file) => file.definitions.length
    ? file.definitions.map((row) => [row.how.map((how) => [badge(how, how), " "]),
      row.how.includes("removed") ? row.symbol : el("a", { class: "item", href: codeAddress(row.handle) }, row.symbol), " ",
      el("span", { class: "doc" }, file.path)])
    : [[badge(file.how, file.how), " ", file.path]]);
  return more(rows, "diff");
}

const commitRow = (row) => [
  el("a", { class: "item", href: address("diff", { from: `${row.head}~1`, to: row.head }) }, row.subject || row.head.slice(0, 7)), " ",
  el("span", { class: "doc" }, `${row.author}, ${when(row)}`)];

const when = (row) => new Date(row.time_s * 1000).toISOString().slice(0, 10);

function worktreeRows({ worktrees }, latest) {
  const names = shortNames(worktrees.map(({ root }) => root));
  const { worktree } = scope();
  return more(worktrees.map(({ root, branch }, at) => [
    el("a", { class: "item", href: address("search", { worktree: at ? root : "", ref: "" }), title: root,
      "aria-current": (at ? root === worktree : !worktree) ? "true" : null }, branch || names[at]), " ",
    el("span", { class: "doc" }, branch ? names[at] : "", latest.has(root)
      ? ` ${latest.get(root).subject}, ${when(latest.get(root))}` : "")]), "views");
}

function conflictRows(answer) {
  return more(answer.results.map((row) => {
    const sure = row.collisions.filter(({ grade }) => grade === "certain").length;
    return [el("a", { class: "item", href: address("conflicts") }, row.branch || row.name), " ",
      row.textual.length ? [badge(`git cannot merge ${count(row.textual.length, "file")}`, "bad"), " "] : "",
      sure ? badge(`${sure} certain`, "bad") : "", " ",
      row.collisions.length ? el("span", { class: "doc" }, row.collisions[0].message) : ""];
  }), "conflicts");
}

const more = (rows, view) => rows.length > MOST
  ? [...rows.slice(0, MOST), el("a", { href: address(view) }, `${rows.length - MOST} more`)] : rows;
