// A file: its outline, its code with links to definitions, and the uses of the shown definition.

import { badge, count, el, remarks } from "./elements.js";
import { markdown } from "./markdown_view.js";
import { address, codeAddress, go, here, scope } from "./places.js";
import { follow } from "./questions.js";

export function showCode({ main, params, page, signal }) {
  const target = params.target ?? "";
  const title = el("div", {}, el("h1", { class: "path" }, target));
  const outline = el("nav", { class: "outline", "aria-label": "Outline", tabindex: "-1" });
  const code = el("section", { class: "code", "aria-label": "Code", tabindex: "0" });
  const uses = el("div", {});
  const notes = el("div", {});
  const sidebar = el("aside", { class: "uses", "aria-label": "Uses", tabindex: "-1" }, uses, notes);
  main.replaceChildren(title, el("div", { class: "three" }, panel("Outline", outline), code, panel("Uses", sidebar)),
    el("button", { type: "button", hidden: true, "data-key": "o", on: { click: () => focusFirst(outline) } }),
    el("button", { type: "button", hidden: true, "data-key": "u", on: { click: () => focusFirst(sidebar) } }));
  let path = "";
  follow("source", { target, ...scope() }, (answer, failure) => {
    if (failure) {
      title.replaceChildren(el("h1", {}, target));
      code.replaceChildren(el("p", { class: "failure" }, failure));
      return;
    }
    page.receipt(answer.receipt);
    title.replaceChildren(...head(answer, page));
    const top = code.scrollTop;
    code.replaceChildren(...(isRendered(answer, params) ? [markdown(answer.text, answer.path)] : body(answer)));
    if (path) code.scrollTop = top; // The file changed on disk: keep the scroll position.
    else showPlace(code);
    if (path !== answer.path) {
      path = answer.path;
      document.title = `${path.split("/").pop()} - codelens`;
      follow("outline", { target: fileOf(answer.handle), ...scope() },
        (found, problem) => drawOutline(outline, found, problem, answer.handle), signal);
      follow("related", { target: answer.handle, ...scope() },
        (found, problem) => drawUses(uses, found, problem, signal), signal);
      follow("notes", { handle: fileOf(answer.handle), ...scope() },
        (found) => notes.replaceChildren(found?.results.length ? savedNotes(found.results) : ""), signal);
    }
  }, signal);
}

/** A part at the side of the code; where there is no side it opens above the code. */
const panel = (title, content) => el("details", { class: "panel", open: !matchMedia("(max-width: 900px)").matches },
  el("summary", {}, title), content);

/** Markdown is shown as its reader sees it, unless lines of it or its source were asked for. */
const isRendered = (answer, params) =>
  answer.language === "markdown" && !answer.place_start && !params.source && answer.file_lines === answer.end_line;

/** Scrolls only the code, not the page, so that the place is visible. */
function showPlace(code) {
  const place = code.querySelector(".line.place");
  if (place) code.scrollTop = place.offsetTop - code.clientHeight / 4;
}

const fileOf = (handle) => handle.replace(/#.*$/s, "").replace(/:\d+(-\d+)?$/, "");

function focusFirst(part) {
  part.closest("details").open = true;
  (part.querySelector("a") ?? part).focus();
}

/** Copies a text, and shows on the button whether that was allowed. */
async function copy(text, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed here";
  }
  setTimeout(() => (button.textContent = label), 1_500);
}

function head(answer, page) {
  const folders = answer.path.split("/");
  const file = folders.pop();
  const links = folders.map((name, at) => [
    el("a", { href: address("files", { target: folders.slice(0, at + 1).join("/") }) }, name), "/"]);
  const line = answer.place_start || 1;
  return [
    el("h1", { class: "path" }, links, el("b", {}, file)),
    el("p", { class: "actions" },
      badge(answer.language), ` ${count(answer.file_lines, "line")} `,
      el("a", { href: address("history", { target: answer.handle }), "data-key": "t" }, "History"), " ",
      page.editor && el("a", { href: editorAddress(page, answer.path, line), "data-key": "e" }, "Open in editor"), " ",
      answer.language === "markdown" && [el("button", { type: "button", on: { click: () => {
        const { params } = here();
        const target = params.target.replace(/#.*$/s, "").replace(/:\d+(-\d+)?$/, "");
        go("code", { target, source: isRendered(answer, params) ? "1" : "" });
      } } }, isRendered(answer, here().params) ? "Source" : "Rendered"), " "],
      el("button", { type: "button", on: { click: (event) => copy(answer.handle, event.target) } }, "Copy handle"),
      " ", el("code", {}, answer.handle)),
    remarks(answer.notes),
  ].filter(Boolean);
}

/** The URL that opens a line of a file in the editor, from the server's template. */
export function editorAddress(page, path, line) {
  const quoted = path.split("/").map(encodeURIComponent).join("/");
  return page.editor
    .replace("{path}", () => `${page.editorRoot}/${quoted}`)
    .replace("{line}", () => String(line));
}

function body(answer) {
  if (!answer.file_lines) return [el("p", {}, "The file is empty.")];
  const rows = [];
  const parts = byLine([...answer.marks, ...answer.links]);
  const lines = answer.text.split("\n");
  for (let at = 0; at <= answer.end_line - answer.start_line; at += 1) {
    const number = answer.start_line + at;
    const isPlace = number >= answer.place_start && number <= answer.place_end;
    rows.push(el("div", { class: isPlace ? "line place" : "line" },
      el("a", { class: "number", href: codeAddress(`${fileOf(answer.handle)}:${number}`), tabindex: "-1",
        "aria-label": `line ${number}` }, number),
      el("code", {}, pieces(lines[at].replace(/\r$/, ""), parts.get(number) ?? []))));
  }
  return [
    answer.start_line > 1 && part(answer, Math.max(1, answer.start_line - 2_900), "Lines before"),
    el("div", { class: "lines" }, rows),
    answer.end_line < answer.file_lines && part(answer, answer.end_line + 1, "Lines after"),
  ].filter(Boolean);
}

const part = (answer, line, text) =>
  el("p", {}, el("a", { href: codeAddress(`${fileOf(answer.handle)}:${line}`) }, text));

export function byLine(spans) {
  const lines = new Map();
  for (const span of spans) {
    if (!lines.has(span[0])) lines.set(span[0], []);
    lines.get(span[0]).push(span);
  }
  return lines;
}

/** A line as pieces of text, coloured and linked; a link takes precedence over a colour. */
export function pieces(text, spans) {
  const shown = [];
  let position = 0;
  spans.sort((a, b) => a[1] - b[1] || b.length - a.length);
  for (const [, start, end, what, ...link] of spans) {
    if (start < position) continue;
    shown.push(text.slice(position, start));
    const word = text.slice(start, end);
    shown.push(link.length
      ? el("a", { class: link[0] ? "defines" : "use", href: codeAddress(what), title: what }, word)
      : el("span", { class: `m-${what}` }, word));
    position = end;
  }
  shown.push(text.slice(position));
  return shown;
}

function drawOutline(part, answer, failure, handle) {
  const file = answer?.results[0];
  if (failure || !file) {
    part.replaceChildren(el("h2", {}, "Outline"), el("p", {}, failure ?? "No definitions."));
    return;
  }
  const roots = nested(file.items);
  const isLong = file.items.length > MOST_UNFOLDED;
  part.replaceChildren(el("h2", {}, "Outline"),
    roots.length ? branch(roots, handle, isLong) : el("p", {}, "No definitions."),
    file.imports?.length ? el("details", {}, el("summary", {}, "Imports"),
      el("ul", {}, file.imports.map((name) => el("li", {}, name)))) : "");
  part.querySelector('[aria-current="true"]')?.scrollIntoView({ block: "nearest" });
}

const MOST_UNFOLDED = 40;

/** The definitions as a tree, by their depth: each has its `inner` ones. */
export function nested(items) {
  const roots = [];
  const path = [];
  for (const item of items) {
    const node = { ...item, inner: [] };
    path.length = Math.min(path.length, item.depth);
    (path.at(-1)?.inner ?? roots).push(node);
    path.push(node);
  }
  return roots;
}

/** A list of definitions; those with inner ones have a button that folds them. */
function branch(nodes, handle, isFolded, owner = "") {
  return el("ul", {}, nodes.map((node) => {
    const link = el("a", { class: "item", href: codeAddress(node.handle), title: node.signature,
      "aria-current": node.handle === handle ? "true" : null },
    owner && node.name.startsWith(owner) ? node.name.slice(owner.length).replace(/^(?:\.|::|#|\/)/, "") || node.name : node.name);
    const kind = el("span", { class: "kind" }, node.kind);
    if (!node.inner.length) return el("li", { class: "leaf" }, link, " ", kind);
    const inner = branch(node.inner, handle, isFolded, node.name);
    const isOpen = !isFolded || node.handle === handle || inner.querySelector('[aria-current="true"]') !== null;
    inner.hidden = !isOpen;
    const button = el("button", { type: "button", class: "fold", "aria-expanded": String(isOpen), "aria-label": `Inside ${node.name}`,
      on: { click: () => {
        inner.hidden = !inner.hidden;
        button.setAttribute("aria-expanded", String(!inner.hidden));
      } } });
    return el("li", {}, button, link, " ", kind, " ", el("span", { class: "doc" }, node.inner.length), inner);
  }));
}

const MOST_SITES = 12;

function drawUses(part, answer, failure, signal) {
  if (failure) {
    part.replaceChildren(el("h2", {}, "Uses"), el("p", {}, failure));
    return;
  }
  const relations = new Map();
  for (const row of answer.results) {
    if (!relations.has(row.relation)) relations.set(row.relation, []);
    relations.get(row.relation).push(row);
  }
  const { target } = answer;
  part.replaceChildren(
    el("h2", {}, target.symbol || target.path.split("/").pop()),
    target.signature && el("code", {}, target.signature),
    ...[...relations].map(([relation, rows]) => el("section", {},
      el("h3", {}, `${relation} (${answer.totals[relation] ?? rows.length})`),
      el("ul", {}, rows.map(relative)))),
    answer.may?.length ? el("section", {}, el("h3", {}, `may use it (${answer.may_count})`),
      el("ul", {}, answer.may.map(relative))) : "",
    everyLine(target.handle, signal),
    relations.size ? "" : el("p", {}, "No certain uses in either direction."),
    remarks(answer.notes));
}

/** Every line that uses the definition, loaded when it is opened. */
function everyLine(handle, signal) {
  const lines = el("div", {});
  let isAsked = false;
  const ask = () => {
    if (isAsked) return;
    isAsked = true;
    follow("references", { target: handle, ...scope() }, (answer, failure) =>
      lines.replaceChildren(failure ? el("p", { class: "failure" }, failure) : referenceLines(answer)),
    signal, { again: false });
  };
  return el("details", { class: "references", on: { toggle: ask } },
    el("summary", {}, "Every line"), lines);
}

function referenceLines(answer) {
  const files = Map.groupBy(answer.results, (row) => `${row.certain ? "" : "may: "}${row.path}`);
  const left = answer.left ? el("p", {}, `${answer.left} more: codelens references ${answer.target.handle}`) : "";
  return el("div", {},
    el("p", {}, `${count(answer.certain, "line")}, ${answer.possible} more possible`),
    ...[...files].map(([file, rows]) => el("section", {}, el("h3", {}, file),
      el("ul", {}, rows.map((row) => el("li", { title: row.why ?? row.kinds.join(", ") },
        el("a", { class: "site", href: codeAddress(`${row.path}:${row.line}`) }, row.line), " ",
        el("code", {}, row.text)))))), left);
}

const savedNotes = (contexts) => el("section", {}, el("h3", {}, "Saved notes"),
  contexts.map((context) => el("p", {},
    el("a", { class: "item", href: address("notes", { query: context.name }) }, context.name), " ",
    [...new Set(context.items.map((item) => item.status))].map((state) => [badge(state), " "]),
    el("span", { class: "doc" }, context.note))));

function relative(row) {
  return el("li", {},
    el("a", { class: "item", href: codeAddress(row.handle), title: row.signature || row.handle }, row.symbol || row.path),
    row.symbol && el("span", { class: "doc" }, ` ${row.path}`),
    row.sites?.slice(0, MOST_SITES).map((site) =>
      [" ", el("a", { class: "site", href: codeAddress(site), title: site }, site.split(":").pop())]),
    row.sites?.length > MOST_SITES ? ` +${row.sites.length - MOST_SITES}` : "");
}
