// The commits that changed a definition, with its diff.

import { badge, el, remarks } from "./elements.js";
import { codeAddress, go, scope } from "./places.js";
import { follow } from "./questions.js";

export function showHistory({ main, params, page, signal }) {
  const answerPart = el("div", {});
  const field = el("input", {
    name: "target", value: params.target ?? "", size: 40, autocomplete: "off", spellcheck: "false",
    placeholder: "src/auth.py#login, or a file",
  });
  main.replaceChildren(
    el("h1", {}, "History"),
    el("form", { class: "controls", on: { submit: (event) => { event.preventDefault(); go("history", { target: field.value.trim() }); } } },
      el("label", {}, "Definition or file ", field), el("button", {}, "Show")),
    answerPart);
  if (!params.target) {
    answerPart.append(el("p", { class: "doc" },
      "The commits that changed a definition, or when each definition of a file last changed. In code, ",
      el("kbd", {}, "t"), " leads here."));
    field.focus();
    return;
  }
  answerPart.append(el("p", {}, "Looking..."));
  follow("history", { target: params.target, ...scope() }, (answer, failure) => {
    if (failure) {
      answerPart.replaceChildren(el("p", { class: "failure" }, failure));
      return;
    }
    page.receipt(answer.receipt);
    answerPart.replaceChildren(...changes(answer));
  }, signal);
}

function changes(answer) {
  return [
    el("h2", {}, el("a", { href: codeAddress(answer.handle) }, answer.handle)),
    remarks(answer.notes),
    answer.results.length ? el("ol", { class: "list" }, answer.results.map((row, at) => event(row, at === 0))) : "",
    answer.definitions.length ? el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Last changes" }, el("table", {},
      el("caption", {}, "When each definition last changed"),
      el("thead", {}, el("tr", {}, ["Definition", "Date", "Author", "Commit"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, answer.definitions.map(lastChange)))) : "",
    answer.more ? el("p", {}, "There are older changes.") : "",
  ].filter(Boolean);
}

const event = (row, isFirst) => el("li", {},
  el("p", {},
    el("span", { class: "date" }, row.date || "now"), " ",
    row.how.map((how) => [badge(how, how), " "]),
    el("a", { class: "item", href: codeAddress(row.handle) }, row.subject || "not committed yet"), " ",
    el("span", { class: "doc" }, row.author, row.commit ? ` ${row.commit.slice(0, 10)}` : "")),
  row.patch.length ? el("details", { open: isFirst }, el("summary", {}, "Its diff"), el("div", { class: "patch" }, row.patch.map(patchLine))) : "");

const KINDS = { "+": "plus", "-": "minus", "@": "span" };
const patchLine = (line) => el("code", { class: KINDS[line[0]] ?? "" }, line || " ");

const lastChange = (row) => el("tr", {},
  el("td", {}, el("a", { class: "item", href: codeAddress(row.handle) }, row.handle.split("#").pop()), " ", el("span", { class: "kind" }, row.kind)),
  el("td", {}, row.date || "now"),
  el("td", {}, row.author),
  el("td", {}, row.subject || "not committed yet"));
