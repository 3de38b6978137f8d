// The definitions that differ between two sides, and the uses that this breaks.

import { badge, count, el, remarks } from "./elements.js";
import { codeAddress, go, scope } from "./places.js";
import { follow } from "./questions.js";

const MOST_USES = 20;

export function showDiff({ main, params, page, signal }) {
  const answerPart = el("div", { "aria-live": "polite" }, el("p", {}, "Comparing..."));
  main.replaceChildren(el("h1", {}, "What differs"), form(params), answerPart);
  const { from = "", to = "", since = "" } = params;
  const spec = to ? `${from || "HEAD"}${since ? "..." : ".."}${to}` : from;
  follow("diff", { spec, ...scope(), ref: "" }, (answer, failure) => {
    if (failure) {
      answerPart.replaceChildren(el("p", { class: "failure" }, failure));
      return;
    }
    page.receipt(answer.receipt);
    answerPart.replaceChildren(...differences(answer));
  }, signal);
}

function form(params) {
  const side = (name, label, placeholder) => el("label", {}, `${label} `,
    el("input", { name, list: "refs", value: params[name] ?? "", placeholder, autocomplete: "off", spellcheck: "false" }));
  return el("form", {
    class: "controls",
    on: {
      submit: (event) => {
        event.preventDefault();
        const values = new FormData(event.target);
        go("diff", { from: values.get("from").trim(), to: values.get("to").trim(), since: values.get("since") ?? "" });
      },
    },
  },
  side("from", "From", "HEAD"), side("to", "To", "files on disk"),
  el("label", {}, el("input", { type: "checkbox", name: "since", value: "1", checked: Boolean(params.since) }), " since they diverged"),
  el("button", {}, "Compare"));
}

function differences(answer) {
  if (!answer.results.length) return [el("p", {}, `Nothing differs between ${answer.from} and ${answer.to}.`), remarks(answer.notes)];
  return [
    el("p", {}, `${answer.from} to ${answer.to}: `,
      Object.entries(answer.totals).map(([how, number]) => [badge(`${number} ${how}`, how), " "])),
    remarks(answer.notes),
    answer.broken.length ? el("section", {}, el("h2", {}, "Uses that were not changed"),
      el("ul", { class: "list" }, answer.broken.map(broken))) : "",
    el("h2", {}, count(answer.results.length, "file")),
    ...answer.results.map(file),
    answer.tests.length ? el("section", {}, el("h2", {}, "Tests to run"),
      el("ul", {}, answer.tests.map((path) => el("li", {}, el("a", { href: codeAddress(path) }, path))))) : "",
  ].filter(Boolean);
}

const broken = (use) => el("li", {},
  badge(use.certain ? "broken" : "check", use.certain ? "bad" : "fair"), " ",
  el("b", {}, use.handle), ` ${use.how}`, use.now ? ` now ${use.now}` : "", ": ",
  use.uses.slice(0, MOST_USES).map((site) => [el("a", { class: "item site", href: codeAddress(site) }, site), " "]),
  use.count > MOST_USES ? `and ${use.count - MOST_USES} more` : "");

function file(row) {
  return el("details", { open: true, class: "file" },
    el("summary", {}, el("b", {}, row.path), " ", badge(row.how, row.how),
      row.old_path ? ` from ${row.old_path}` : "", row.folded ? ` ${row.folded}` : "",
      row.folded_count ? `, ${count(row.folded_count, "definition")}` : ""),
    el("ul", { class: "list" },
      row.definitions.map((definition) => el("li", {},
        definition.how.map((how) => [badge(how, how), " "]),
        definition.how.includes("removed")
          ? el("span", {}, definition.symbol)
          : el("a", { class: "item", href: codeAddress(definition.handle), title: definition.handle }, definition.symbol),
        " ", el("span", { class: "kind" }, definition.kind),
        signatures(definition))),
      row.outside.map((part) => el("li", {}, badge(part.how), " ",
        part.new_lines.length ? linesOf(part.new_lines) : `${linesOf(part.old_lines)}, gone`))));
}

const linesOf = (spans) =>
  `lines ${spans.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(", ")}`;

const signatures = ({ how, signature, old_signature: before }) => before && how.includes("signature")
  ? el("div", { class: "patch" }, el("code", { class: "minus" }, `- ${before}`), el("code", { class: "plus" }, `+ ${signature}`))
  : el("code", {}, ` ${signature}`);
