// The page's keyboard shortcuts.

import { el } from "./elements.js";

/** Moves the focus among the results of the view by a number of steps. */
export function moveFocus(steps) {
  const items = [...document.querySelectorAll("main .item")].filter((item) => item.checkVisibility());
  const at = items.indexOf(document.activeElement);
  const next = items[Math.min(Math.max(at + steps, 0), items.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

const ACTIONS = [
  ["/", "search"],
  ["j, k", "next and previous result"],
  ["Enter", "open it"],
  ["o", "of code: to the outline"],
  ["u", "of code: to the uses"],
  ["t", "in code: history"],
  ["e", "in code: open in the editor"],
  ["?", "this list"],
];

/** Shows the list of keys. */
export function openHelp(views) {
  const rows = [
    ...ACTIONS,
    ...Object.values(views).filter((view) => view.key).map((view) => [`g ${view.key}`, view.title]),
  ];
  const dialog = el("dialog", { "aria-label": "Keys", on: { close: () => dialog.remove() } },
    el("h2", {}, "Keys"),
    el("dl", { class: "keys" }, rows.map(([keys, action]) => [
      el("dt", {}, el("kbd", {}, keys)), el("dd", {}, action)])),
    el("form", { method: "dialog" },
      el("button", { on: { click: (event) => { event.preventDefault(); dialog.close(); } } }, "Close")));
  document.body.append(dialog);
  dialog.showModal();
}
