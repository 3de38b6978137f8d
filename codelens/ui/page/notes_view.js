// Saved notes, with the state of each of their handles here.

import { badge, count, el, remarks } from "./elements.js";
import { markdown } from "./markdown_view.js";
import { codeAddress, go, scope } from "./places.js";
import { follow } from "./questions.js";

const STATES = { current: "good", moved: "fair", changed: "fair", gone: "bad", unknown: "" };

export function showNotes({ main, params, page, signal }) {
  const answerPart = el("div", {});
  const field = el("input", { value: params.query ?? "", placeholder: "a name, or words", autocomplete: "off" });
  main.replaceChildren(el("h1", {}, "Saved notes"),
    el("form", { class: "controls", on: { submit: (event) => { event.preventDefault(); go("notes", { query: field.value.trim() }); } } },
      el("label", {}, "Find ", field), el("button", {}, "Show")),
    answerPart);
  follow("notes", { query: params.query, ...scope() }, (answer, failure) => {
    if (failure) {
      answerPart.replaceChildren(el("p", { class: "failure" }, failure));
      return;
    }
    if (answer.results.length) page.receipt(answer.receipt);
    answerPart.replaceChildren(
      el("p", {}, answer.results.length ? count(answer.results.length, "note") : "Nothing is saved. `codelens save` saves a note with handles."),
      remarks(answer.notes),
      el("div", { class: "board" }, answer.results.map(saved)));
  }, signal);
}

const saved = (context) => el("section", { class: "card", "aria-label": context.name },
  el("h2", {}, context.pinned ? "\u2605 " : "", context.name),
  el("p", { class: "doc" }, `${context.category}, ${(context.saved ?? "").slice(0, 10)} ${context.branch}`,
    context.tags.map((tag) => [" ", badge(tag)]), context.expired ? [" ", badge("expired", "bad")] : ""),
  markdown(context.note),
  el("ul", { class: "list" }, context.items.map((item) => el("li", {}, badge(item.status, STATES[item.status]), " ",
    item.status === "gone"
      ? el("span", {}, item.handle, item.near.length ? [" near ", item.near.map((handle) => [el("a", { class: "item", href: codeAddress(handle) }, handle), " "])] : "")
      : el("a", { class: "item", href: codeAddress(item.handle) }, item.handle),
    item.was !== item.handle ? el("span", { class: "doc" }, ` was ${item.was}`) : ""))));
