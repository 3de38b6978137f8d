// The interactive map: folders are groups that open, files are boxes that open, and pointing at a
// file draws arrows to what uses it and what it uses. It shows the most used files, as in
// `codelens map`; a folder without shown files lists its files when it is opened.

import { badge, count, el, remarks, svg } from "./elements.js";
import { address, codeAddress, go, scope } from "./places.js";
import { ask, Failed, follow } from "./questions.js";

const SIZES = 5;
const OPEN_GROUPS = 12;
const TOKENS = [["brief", ""], ["more", "12000"], ["most", "40000"]];
// A header and its source are shown as one box.
const HEADERS = new Set(["h", "hh", "hpp", "hxx", "mli", "pyi"]);
const SOURCES = new Set(["c", "cc", "cpp", "cxx", "m", "mm", "ml", "py"]);

export function showMap({ main, params, page, signal }) {
  main.replaceChildren(el("h1", {}, "Map"), el("p", {}, "Drawing..."));
  const { tokens, focus } = params;
  follow("map", { tokens, focus, ...scope() }, (answer, failure) => {
    if (failure) {
      main.replaceChildren(el("h1", {}, "Map"), el("p", { class: "failure" }, failure));
      return;
    }
    page.receipt(answer.receipt);
    main.replaceChildren(
      el("h1", {}, answer.name),
      controls(params, answer),
      remarks(answer.notes),
      el("div", { class: "mapgrid" }, picture(answer, signal), sidebar(answer)));
  }, signal);
}

function controls(params, answer) {
  const select = el("select", { id: "tokens", on: { change: () => go("map", { ...params, tokens: select.value }) } },
    TOKENS.map(([name, value]) => el("option", { value, selected: value === (params.tokens ?? "") }, name)));
  return el("p", { class: "controls" },
    `${count(answer.results.length, "file")} of ${answer.files.toLocaleString("en")}; larger is used more. `,
    el("label", {}, "Detail ", select),
    params.focus ? [" near ", el("b", {}, params.focus), " ", el("a", { href: address("map") }, "whole map")] : "");
}

function sidebar(answer) {
  const rows = (title, entries) => entries.length
    ? el("section", { "aria-label": title }, el("h2", {}, title), el("ul", {}, entries)) : "";
  return el("aside", { "aria-label": "Where to begin" },
    rows("Entry points", answer.entries.map((entry) => el("li", {},
      el("a", { class: "item", href: codeAddress(entry.handle) }, entry.name), " ", el("span", { class: "doc" }, entry.why)))),
    rows("Used by most files", answer.hot.map((row) => el("li", {},
      el("a", { class: "item", href: codeAddress(row.thing.handle), title: row.thing.signature }, row.thing.symbol),
      " ", el("span", { class: "doc" }, `${row.at_least ? "at least " : ""}${count(row.users, "file")}`)))));
}

/** The groups and boxes, under a drawing with the arrows of the selected box. */
function picture(answer, signal) {
  const arrows = svg("svg", { class: "arrows", "aria-hidden": "true" });
  const boxes = new Map();
  const ranks = rankOf(answer.results);
  const tree = folderTree(answer);
  const area = el("div", { class: "map" });
  const drawBox = (files) => {
    const box = fileBox(files, Math.max(...files.map((file) => ranks.get(file.path))));
    for (const file of files) boxes.set(file.path, box);
    const point = () => drawArrows(area, arrows, boxes, answer.links, files.map((file) => file.path));
    box.addEventListener("mouseenter", point);
    box.addEventListener("focusin", point);
    for (const event of ["mouseleave", "toggle"]) box.addEventListener(event, () => clear(area, arrows));
    return box;
  };
  let opened = 0;
  const drawFolder = (folder) => {
    const isOpen = folder.groups.length > 0 || folder.folders.length > 0;
    const body = el("div", { class: "boxes" });
    const fill = () => body.append(...folder.groups.map(drawBox), ...folder.folders.map(drawFolder));
    const group = el("details", { class: "group", open: isOpen && (opened += 1) <= OPEN_GROUPS },
      el("summary", {}, el("b", {}, `${folder.name}/`), " ",
        folder.files ? el("span", { class: "doc" }, count(folder.files, "file")) : ""),
      el("a", { class: "site", href: address("map", { focus: folder.path }), title: `The map near ${folder.path}` }, "focus"),
      body);
    if (isOpen) fill();
    else group.addEventListener("toggle", () => listFolder(folder.path, body, signal), { once: true });
    group.addEventListener("toggle", () => clear(area, arrows));
    return group;
  };
  area.append(el("div", { class: "boxes" }, tree.groups.map(drawBox)), ...tree.folders.map(drawFolder), arrows);
  return area;
}

/** The share of the files that is used less, in steps from 1 to `SIZES`. */
function rankOf(files) {
  const sorted = [...files].sort((a, b) => a.score - b.score);
  return new Map(sorted.map((file, at) => [file.path, 1 + Math.floor((SIZES * at) / sorted.length)]));
}

/** The tree of folders, with the files of the map in groups of a header and its source. */
function folderTree(answer) {
  const root = { path: "", name: "", files: 0, groups: [], children: new Map() };
  const at = (path) => {
    let folder = root;
    for (const name of path.split("/").filter(Boolean)) {
      if (!folder.children.has(name)) {
        folder.children.set(name, {
          path: folder.path ? `${folder.path}/${name}` : name, name, files: 0, groups: [], children: new Map(),
        });
      }
      folder = folder.children.get(name);
    }
    return folder;
  };
  for (const file of answer.results) addFile(at(file.path.split("/").slice(0, -1).join("/")), file);
  for (const { path, files } of answer.folders) if (path !== "." && path) at(path).files = files;
  return joined(root);
}

function addFile(folder, file) {
  const [stem, ending] = stemAndEnding(file.path);
  const partner = folder.groups.find(([other, ...rest]) => {
    const [otherStem, otherEnding] = stemAndEnding(other.path);
    return !rest.length && otherStem === stem && isPair(ending, otherEnding);
  });
  if (partner) partner.push(file);
  else folder.groups.push([file]);
}

const isPair = (one, two) => (HEADERS.has(one) && SOURCES.has(two)) || (HEADERS.has(two) && SOURCES.has(one));

function stemAndEnding(path) {
  const at = path.lastIndexOf(".");
  return at < 0 ? [path, ""] : [path.slice(0, at), path.slice(at + 1)];
}

/** Merges a folder that only contains another folder with it. */
function joined(folder) {
  const folders = [...folder.children.values()].map(joined);
  if (folder.path && folders.length === 1 && !folder.groups.length) {
    const [only] = folders;
    return { ...only, name: `${folder.name}/${only.name}`, files: folder.files || only.files };
  }
  return { ...folder, folders };
}

function fileBox(files, rank) {
  const [first, partner] = files;
  const name = first.path.split("/").pop();
  const title = partner ? `${stemAndEnding(name)[0]}.{${files.map((file) => stemAndEnding(file.path)[1]).join(",")}}` : name;
  return el("details", { class: `box size${rank}` },
    el("summary", { class: "item" }, title),
    files.map((file) => el("div", {},
      el("p", {}, el("a", { href: codeAddress(handleOf(file)) }, file.path), " ",
        el("span", { class: "doc" }, `${count(file.lines, "line")}, named in ${count(file.imported_by, "file")}`)),
      el("ul", {}, file.symbols.map((row) => el("li", { class: `depth${Math.min(row.depth, 4)}` },
        el("a", { href: codeAddress(row.thing.handle), title: row.thing.signature }, row.thing.symbol || row.thing.handle),
        row.users ? el("span", { class: "doc" }, ` ${row.users}`) : ""))),
      file.left ? el("p", { class: "doc" }, `${file.left} more`) : "")));
}

// Paths in an answer are unescaped, but a handle escapes its separators.
const handleOf = (file) => file.symbols[0]?.thing.handle.replace(/#.*$/s, "") ?? file.path;

async function listFolder(path, body, signal) {
  try {
    const { answer } = await ask("outline", { target: path, detail: "names", ...scope() }, signal);
    body.replaceChildren(el("ul", { class: "list" },
      answer.folders.map((folder) => el("li", {}, el("a", { class: "item", href: address("files", { target: folder.path.replace(/\/$/, "") }) }, folder.path))),
      answer.results.map((file) => el("li", {}, el("a", { class: "item", href: codeAddress(file.items[0]?.handle.replace(/#.*$/s, "") ?? file.path) },
        file.path.split("/").pop()), " ", badge(file.language)))));
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Failed)) throw error;
    body.replaceChildren(el("p", { class: "failure" }, error.message));
  }
}

function clear(area, arrows) {
  arrows.replaceChildren();
  area.classList.remove("pointing");
  for (const box of area.querySelectorAll(".user, .used, .pointed")) box.classList.remove("user", "used", "pointed");
}

function drawArrows(area, arrows, boxes, links, paths) {
  clear(area, arrows);
  const own = new Set(paths);
  const pointed = boxes.get(paths[0]);
  pointed.classList.add("pointed");
  const drawn = new Set([pointed]);
  for (const [user, used] of links) {
    const isUser = own.has(used) && !own.has(user);
    if (!isUser && !(own.has(user) && !own.has(used))) continue;
    const other = boxes.get(isUser ? user : used);
    if (!other?.checkVisibility() || (drawn.has(other) && other.classList.contains(isUser ? "user" : "used"))) continue;
    drawn.add(other);
    other.classList.add(isUser ? "user" : "used");
    arrows.append(arrow(area, isUser ? other : pointed, isUser ? pointed : other, isUser));
  }
  area.classList.toggle("pointing", drawn.size > 1);
}

function arrow(area, from, to, isUser) {
  const frame = area.getBoundingClientRect();
  const [x, y, u, v] = [from, to].flatMap((box) => {
    const place = box.querySelector("summary").getBoundingClientRect();
    return [place.x - frame.x + place.width / 2, place.y - frame.y + place.height / 2];
  });
  const bend = [(x + u) / 2 - (v - y) * 0.12, (y + v) / 2 + (u - x) * 0.12];
  return svg("path", { d: `M${x} ${y}Q${bend.join(" ")} ${u} ${v}`, class: isUser ? "fromuser" : "toused" });
}
