// Search as you type: ranked places, each with a reason.

import { badge, count, el, remarks } from "./elements.js";
import { byLine, pieces } from "./code_view.js";
import { address, codeAddress, go, here, placeOf, scope } from "./places.js";
import { showHome } from "./home_view.js";
import { follow } from "./questions.js";

const PAUSE_MS = 80;
const MODES = ["auto", "symbol", "text", "regex", "path"];

export function showSearch({ main, params, page, signal }) {
  const field = document.getElementById("query");
  field.value = params.query ?? "";
  if (!params.query?.trim()) {
    showHome({ main, page, signal });
    if (!matchMedia("(pointer: coarse)").matches) field.focus();
    return;
  }
  // While the user types, the previous list stays until the new one arrives.
  let list = main.querySelector(".results");
  if (!list) {
    list = el("div", { class: "results" });
    main.replaceChildren(filters(params), list);
  } else {
    keepToAddress(main, params);
  }
  const { query, mode, languages, globs, limit } = params;
  const draw = (answer, failure) => {
    if (answer) page.receipt(answer.receipt);
    list.replaceChildren(...(failure ? [el("p", { class: "failure" }, failure)] : results(answer, params)));
    if (answer?.results.length) showSnippets(list, answer.results, signal);
  };
  const timer = setTimeout(() => follow("search", { query, mode, languages, globs, limit, ...scope() }, draw, signal), PAUSE_MS);
  signal.addEventListener("abort", () => clearTimeout(timer));
}

/** The filters of the search; their values are in the URL. */
function filters(params) {
  const change = (event) => {
    const { name, value } = event.target;
    go("search", { ...here().params, [name]: value.trim() });
  };
  const field = (name, label, placeholder) => el("label", {}, `${label} `, el("input", {
    name, placeholder, value: params[name] ?? "", size: 14, autocomplete: "off", spellcheck: "false", on: { change },
  }));
  return el("p", { class: "controls" },
    el("label", {}, "Mode ", el("select", { name: "mode", on: { change } }, MODES.map((mode) =>
      el("option", { value: mode === "auto" ? "" : mode, selected: mode === (params.mode || "auto") }, mode)))),
    field("languages", "Language", "python"),
    field("globs", "Path", "src/**"));
}

/** The user may have gone back, or followed a link. */
function keepToAddress(main, params) {
  for (const control of main.querySelectorAll(".controls [name]")) {
    const value = params[control.name] ?? "";
    if (control.value !== value) control.value = value;
  }
}

function results(answer, params) {
  const shown = answer.results.length;
  const more = shown >= Number(params.limit || 20);
  return [
    el("h1", { class: "quiet" }, count(shown, "place")),
    remarks(answer.notes),
    savedNotes(answer.contexts),
    el("ol", { class: "list" }, answer.results.map(result)),
    more && el("p", {}, el("button", {
      type: "button", on: { click: () => go("search", { ...params, limit: Math.min(shown * 3, 200) }) },
    }, "More")),
  ].filter(Boolean);
}

function result(hit) {
  const place = hit.start_line ? `${hit.path}:${hit.start_line}` : hit.path;
  return el("li", {},
    el("a", { class: "item hit", href: codeAddress(hit.handle), title: hit.handle },
      el("span", { class: "place" }, place),
      badge(hit.kind),
      hit.stale && badge("stale", "fair"),
      hit.doc && el("span", { class: "doc" }, hit.doc),
      hit.why && el("span", { class: "why" }, hit.why)),
    hit.signature && el("div", { class: "snippet" }, el("code", {}, hit.signature)),
    hit.also?.length ? el("span", { class: "also" }, "also ", hit.also.map((handle) =>
      [el("a", { href: codeAddress(handle) }, handle.split("#").pop()), " "])) : "");
}

const SHOWN_LINES = 6;
const LINES_ABOVE = 2;
const MOST_SNIPPETS = 40;

/** Replaces the signature of each result by its code, in colours. */
function showSnippets(list, hits, signal) {
  const parts = list.querySelectorAll(".list > li");
  const targets = hits.slice(0, MOST_SNIPPETS).map(({ handle }) => placeOf(handle).target);
  follow("snippets", { handles: targets.join("\n"), ...scope() }, (answer) => {
    const codes = new Map(answer?.results.map((row) => [row.handle, row]));
    targets.forEach((target, at) => {
      const row = codes.get(target);
      if (row?.text.trim()) parts[at].querySelector(".snippet")?.replaceChildren(...snippet(row, hits[at].signature));
    });
  }, signal, { again: false });
}

/** The first lines, or those around the best line of a place without a definition. */
function snippet({ text, start_line: start, marks }, best) {
  const lines = text.replace(/\n$/, "").split("\n");
  const first = Math.max(0, lines.findIndex((line) => line.trim() === best.trim()) - LINES_ABOVE);
  const spans = byLine(marks);
  const shown = lines.slice(first, first + SHOWN_LINES);
  while (shown.length > 1 && !shown.at(-1).trim()) shown.pop();
  const indent = Math.min(...shown.filter((line) => line.trim()).map((line) => /^\s*/.exec(line)[0].length));
  return shown.map((line, at) => {
    const of = (spans.get(start + first + at) ?? []).map(([number, from, to, kind]) =>
      [number, Math.max(from - indent, 0), to - indent, kind]).filter(([, , to]) => to > 0);
    return el("code", {}, pieces(line.slice(indent).replace(/\r$/, ""), of), "\n");
  });
}

const savedNotes = (contexts) => contexts?.length
  ? el("p", { class: "doc" }, "Saved notes on these: ", contexts.map((context) => [
    el("a", { href: address("notes", { query: context.name }), title: context.note }, context.name), " "]))
  : "";
