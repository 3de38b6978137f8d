// The views of the index: size, last use, and what a prune would remove.

import { badge, count, duration, el, size } from "./elements.js";
import { scope } from "./places.js";
import { follow } from "./questions.js";

const COLUMNS = ["View", "Files", "Text", "Its own", "Unused for", ""];

export function showViews({ main, signal }) {
  follow("views", scope(), (answer, failure) => {
    if (failure) {
      main.replaceChildren(el("h1", {}, "Views"), el("p", { class: "failure" }, failure));
      return;
    }
    main.replaceChildren(el("h1", {}, "Views"), ...answer.results.map(repository));
  }, signal, { again: false });
}

function repository(row) {
  const due = row.views.filter((view) => view.goes).length;
  return el("section", { "aria-label": row.repository },
    el("p", {}, `${row.repository}: ${count(row.views.length, "view")} in ${row.index_path}, ${size(row.index_bytes)}`),
    row.error ? el("p", { class: "failure" }, row.error) : "",
    el("p", {}, due ? `${count(due, "view")} would be removed. This page changes nothing; on the command line: ` : "No view is due to be removed. Later, on the command line: ",
      el("code", {}, "codelens prune --yes"), ", ", el("code", {}, "codelens drop VIEW"), ", ", el("code", {}, "codelens pin VIEW"), "."),
    el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Views" }, el("table", {},
      el("thead", {}, el("tr", {}, COLUMNS.map((name) => (name ? el("th", { scope: "col" }, name) : el("td", {}))))),
      el("tbody", {}, row.views.map(view)))),
    row.unbuilt_pins.map((pin) => el("p", {}, badge("pinned", "good"),
      ` ${pin.kind === "ref" ? `ref ${pin.head.slice(0, 12)}` : `${pin.branch || "detached"} in ${pin.worktree}`}: the next question about it builds its view.`)));
}

const view = (row) => el("tr", {},
  el("td", {}, el("b", {}, row.kind === "ref" ? `ref ${row.head.slice(0, 12)}` : row.branch || "detached"),
    row.pinned ? [" ", badge("pinned", "good")] : "", el("div", { class: "doc" }, row.worktree, " ", row.index_id)),
  el("td", {}, row.files.toLocaleString("en")),
  el("td", {}, size(row.source_bytes)),
  el("td", {}, size(row.own_bytes)),
  el("td", {}, duration(row.unused_s)),
  el("td", {}, badge(row.goes ? "goes" : "stays", row.goes ? "fair" : "good"), ` ${row.why}`));
