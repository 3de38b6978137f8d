// Elements of the page. Text from a repository only becomes text nodes and attributes: no code of
// the page parses markup (the content security policy also forbids it).

// Characters that would hide, reverse or move the text around them: those of `codelens/paths.py` and
// joiners; tabs and line ends are layout.
const UNSAFE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/** A text with its invisible characters written as `<U+202E>`. */
export const visible = (text) =>
  String(text).replace(UNSAFE, (character) => {
    const code = character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    return `\u2039U+${code}\u203a`;
  });

/**
 * An element.
 *
 * Attributes that are undefined, null or false are left out; `on` maps events to listeners.
 * Children are elements, texts, or lists of them; empty ones are left out.
 */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  fill(element, attributes);
  element.append(...nodes(children));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** An element of SVG. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  fill(element, attributes);
  element.append(...nodes(children));
  return element;
}

function fill(element, { on = {}, ...attributes }) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    element.setAttribute(name, value === true ? "" : visible(value));
  }
  for (const [event, listener] of Object.entries(on)) element.addEventListener(event, listener);
}

function nodes(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== undefined && child !== null && child !== false && child !== "")
    .map((child) => (child instanceof Node ? child : document.createTextNode(visible(child))));
}

/** "1 file", "2,310 files". */
export const count = (number, noun) =>
  `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/** A time in seconds for people: "3 days". */
export function duration(seconds) {
  const units = [[86_400, "day"], [3_600, "hour"], [60, "minute"], [1, "second"]];
  const [size, noun] = units.find(([size]) => seconds >= size) ?? units.at(-1);
  return count(Math.floor(seconds / size), noun);
}

/** A size in bytes for people: "3.4 MB". */
export function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  const value = bytes / 1000 ** step;
  return `${step && value < 100 ? value.toFixed(1) : Math.round(value)} ${units[step]}`;
}

/** A small label; `kind` chooses its colour. */
export const badge = (text, kind = "") => el("span", { class: `badge ${kind}` }, text);

/** Remarks on an answer, if there are any. */
export const remarks = (notes) =>
  notes?.length ? el("ul", { class: "remarks" }, notes.map((note) => el("li", {}, note))) : "";
