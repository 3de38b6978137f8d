// Markdown as elements. No markup is parsed: tags in a text are left out, images are named and never
// loaded, and a link leads only to the web or to a file of the repository.

import { el } from "./elements.js";
import { address } from "./places.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const QUOTE = /^ {0,3}>\s?/;
const DIVIDER = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const IMAGE_TEXT = /\balt\s*=\s*(?:"([^"]*)"|'([^']*)')/;
const INLINE =
  /(`+)([\s\S]*?[^`])\1(?!`)|(<!--[\s\S]*?-->|<\/?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?\/?>)|(!?)\[((?:!?\[[^[\]]{0,300}\]\([^()\s]{0,1000}\)|[^[\]]){0,500})\]\(\s*<?([^)\s>]{0,2000})>?[^)]{0,300}\)|\*\*(\S(?:[\s\S]*?\S)?)\*\*|\*(\S(?:[^*]*?\S)?)\*|<?(https?:\/\/[^\s<>)"']+)>?/g;
const DEEPEST = 8;

/** The elements of a Markdown text; `path` is its file, from which links start. */
export const markdown = (text, path = "") =>
  el("div", { class: "markdown" }, blocks(text.replace(/\r/g, "").split("\n"), path, 0));

function blocks(lines, path, depth) {
  if (depth > DEEPEST) return [el("p", {}, lines.join(" "))];
  const shown = [];
  let at = 0;
  const take = (while_) => {
    const start = at;
    while (at < lines.length && while_(lines[at], at - start)) at += 1;
    return lines.slice(start, at);
  };
  while (at < lines.length) {
    const line = lines[at];
    const fence = FENCE.exec(line);
    const heading = HEADING.exec(line);
    if (!line.trim()) {
      at += 1;
    } else if (fence) {
      at += 1;
      const body = take((row) => !(row.trim().startsWith(fence[1]) && !row.trim().slice(fence[1].length).trim()));
      at += 1;
      shown.push(el("pre", { tabindex: "0" }, el("code", {}, body.join("\n"))));
    } else if (/^(?: {4}|\t)/.test(line)) {
      shown.push(el("pre", { tabindex: "0" }, el("code", {}, take((row) => /^(?: {4}|\t)/.test(row)).map((row) => row.replace(/^(?: {4}|\t)/, "")).join("\n"))));
    } else if (heading) {
      at += 1;
      shown.push(el(`h${Math.min(heading[1].length + 1, 6)}`, {}, inline(heading[2], path)));
    } else if (RULE.test(line)) {
      at += 1;
      shown.push(el("hr"));
    } else if (QUOTE.test(line)) {
      shown.push(el("blockquote", {}, blocks(take((row) => QUOTE.test(row)).map((row) => row.replace(QUOTE, "")), path, depth + 1)));
    } else if (ITEM.test(line)) {
      shown.push(list(take((row, number) => !number || ITEM.test(row) || /^\s{2,}\S/.test(row)), path, depth));
    } else if (line.includes("|") && DIVIDER.test(lines[at + 1] ?? "")) {
      shown.push(table(take((row) => row.includes("|")), path));
    } else {
      const rows = take((row, number) => row.trim() && (!number || !(FENCE.test(row) || HEADING.test(row) || ITEM.test(row) || QUOTE.test(row))));
      const underline = rows.length > 1 && /^\s*(=+|-+)\s*$/.exec(rows.at(-1));
      const content = inline((underline ? rows.slice(0, -1) : rows).join("\n"), path);
      const isEmpty = content.every((piece) => typeof piece === "string" && !piece.trim());
      if (!isEmpty) shown.push(el(underline ? (underline[1][0] === "=" ? "h2" : "h3") : "p", {}, content));
    }
  }
  return shown;
}

function list(lines, path, depth) {
  const [, indent, mark] = ITEM.exec(lines[0]);
  const items = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item && item[1].length <= indent.length + 1) items.push([item[3]]);
    else items.at(-1).push(line.slice(Math.min(indent.length + 2, /^\s*/.exec(line)[0].length)));
  }
  return el(/\d/.test(mark) ? "ol" : "ul", {}, items.map((rows) => {
    const parts = blocks(rows, path, depth + 1);
    return el("li", {}, parts.length && parts[0].nodeName === "P" ? [...parts[0].childNodes, parts.slice(1)] : parts);
  }));
}

function table(lines, path) {
  const cells = (row) => row.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => inline(cell.trim().replace("\\|", "|"), path));
  const [head, , ...rows] = lines;
  return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" }, el("table", {},
    el("thead", {}, el("tr", {}, cells(head).map((cell) => el("th", { scope: "col" }, cell)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, cells(row).map((cell) => el("td", {}, cell)))))));
}

function inline(text, path, depth = 0) {
  if (depth > DEEPEST) return [text];
  const shown = [];
  let position = 0;
  const plain = (end) => shown.push(text.slice(position, end));
  for (const match of text.matchAll(INLINE)) {
    const [whole, , code, tag, image, label, target, strong, weak, web] = match;
    plain(match.index);
    position = match.index + whole.length;
    if (code !== undefined) shown.push(el("code", {}, code.trim()));
    else if (tag) shown.push(pictured(IMAGE_TEXT.exec(tag)));
    else if (image) shown.push(pictured([, label]));
    else if (label !== undefined) shown.push(link(inline(label, path, depth + 1), target, path));
    else if (strong) shown.push(el("b", {}, inline(strong, path, depth + 1)));
    else if (weak) shown.push(el("em", {}, inline(weak, path, depth + 1)));
    else shown.push(link([web], web, path));
  }
  plain(text.length);
  return shown;
}

/** The text that stands for an image; none for another tag. */
const pictured = (match) => {
  const text = match && (match[1] || match[2]);
  return text ? el("span", { class: "doc" }, `[${text}]`) : "";
};

/** A link to the web, or to a file of the repository; any other target stays text. */
function link(label, target, path) {
  const isEmpty = label.every((piece) => piece === "");
  if (isEmpty) return "";
  if (/^https?:\/\//i.test(target)) {
    return el("a", { href: target, target: "_blank", rel: "noreferrer noopener" }, label);
  }
  const file = target.replace(/[#?].*$/s, "");
  if (!file || /^[a-z][a-z0-9+.-]*:|^\/\/|\\/i.test(target)) return el("span", {}, label);
  const parts = file.startsWith("/") ? [] : path.split("/").slice(0, -1);
  for (const part of file.split("/")) {
    if (part === "..") parts.pop();
    else if (part && part !== ".") parts.push(part);
  }
  return el("a", { href: address("code", { target: parts.join("/") }) }, label);
}
