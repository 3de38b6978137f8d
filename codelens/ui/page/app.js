// The frame of the page: its head, its views, its keys.

import { badge, count, el } from "./elements.js";
import { address, go, goOn, here, scope, shortNames } from "./places.js";
import { follow } from "./questions.js";
import { showSearch } from "./search_view.js";
import { showCode } from "./code_view.js";
import { showFiles } from "./files_view.js";
import { showMap } from "./map_view.js";
import { showDiff } from "./diff_view.js";
import { showHistory } from "./history_view.js";
import { showConflicts } from "./conflicts_view.js";
import { showNotes } from "./notes_view.js";
import { showViews } from "./views_view.js";
import { moveFocus, openHelp } from "./keys.js";

const VIEWS = {
  search: { title: "Home", show: showSearch, key: "s" },
  map: { title: "Map", show: showMap, key: "m" },
  files: { title: "Files", show: showFiles, key: "f" },
  diff: { title: "Diff", show: showDiff, key: "d" },
  history: { title: "History", show: showHistory, key: "h" },
  conflicts: { title: "Conflicts", show: showConflicts, key: "c" },
  notes: { title: "Notes", show: showNotes, key: "n" },
  views: { title: "Views", show: showViews, key: "v" },
  code: { title: "Code", show: showCode },
};

const head = document.getElementById("head");
const main = document.getElementById("main");
const foot = document.getElementById("foot");

/** State that all views share: the editor for links, the worktrees and the refs. */
const page = { editor: "", editorRoot: "", worktrees: [], refs: [], receipt: showReceipt };
let ending = new AbortController();
let standing = new AbortController();
let shownScope = null;

function show() {
  ending.abort();
  ending = new AbortController();
  openMenu(false);
  const { view, params } = here();
  const known = VIEWS[view] ?? VIEWS.search;
  document.title = `${known.title} - codelens`;
  for (const link of head.querySelectorAll("nav a")) {
    const isHere = link.dataset.view === view;
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    link.href = address(link.dataset.view);
  }
  followStanding();
  head.querySelector("#ref").value = scope().ref;
  const query = head.querySelector("#query");
  if (known !== VIEWS.search && document.activeElement === query) main.focus();
  known.show({ main, params, page, signal: ending.signal });
}

/** Keeps the lists of worktrees and refs, and the footer, up to date. */
function followStanding() {
  const now = JSON.stringify(scope());
  if (now === shownScope) return;
  shownScope = now;
  standing.abort();
  standing = new AbortController();
  follow("standing", scope(), drawStanding, standing.signal);
}

function drawStanding(answer, failure) {
  if (failure) {
    foot.replaceChildren(badge("not answered", "bad"), " ", failure);
    return;
  }
  Object.assign(page, {
    editor: answer.editor,
    editorRoot: answer.editor_root,
    worktrees: answer.worktrees,
    refs: answer.refs,
    status: answer.status,
  });
  showReceipt(answer.receipt);
  const { worktree } = scope();
  const select = head.querySelector("#worktree");
  const names = shortNames(answer.worktrees.map(({ root }) => root));
  select.replaceChildren(
    ...answer.worktrees.map(({ root, branch }, at) =>
      el("option",
        { value: at ? root : "", selected: at ? root === worktree : !worktree, title: root },
        branch ? `${branch} - ${names[at]}` : names[at])),
  );
  select.title = worktree || answer.worktrees[0]?.root || "";
  head.querySelector("#refs").replaceChildren(
    ...answer.refs.map((name) => el("option", { value: name })),
  );
  document.dispatchEvent(new CustomEvent("standing"));
}

/** Shows the receipt of the last answer in the footer. */
function showReceipt(receipt) {
  const parts = [
    badge(receipt.status, receipt.status === "fresh" ? "good" : "fair"),
    receipt.branch || "detached",
    receipt.head && `@${receipt.head.slice(0, 7)}`,
    count(receipt.files, "file"),
    receipt.pending ? `${count(receipt.pending, "file")} pending` : "",
    receipt.note,
    receipt.worktree,
  ];
  foot.replaceChildren(...parts.filter(Boolean).map((part) => el("span", {}, part)));
}

function drawHead() {
  const query = el("input", {
    id: "query", type: "search", autocomplete: "off", spellcheck: "false",
    placeholder: "Search code ( / )", "aria-label": "Search code",
    on: {
      input: () => {
        const { view, params } = here();
        const isSearching = view === "search" && params.query;
        const { mode, languages, globs } = isSearching ? params : {};
        (isSearching ? goOn : go)("search", { query: query.value, mode, languages, globs });
      },
    },
  });
  const toRef = () => {
    const { view, params } = here();
    go(view, { ...params, ref: head.querySelector("#ref").value.trim() });
  };
  head.append(
    el("a", { class: "brand", href: "#/search" }, "codelens"),
    el("form", { role: "search", on: { submit: (event) => { event.preventDefault(); moveFocus(1); } } }, query),
    el("button", { id: "menu", type: "button", "aria-expanded": "false", "aria-controls": "places", on: { click: () => openMenu(!head.classList.contains("open")) } }, "Menu"),
    el("div", { id: "places" },
    el("nav", { "aria-label": "Views" },
      Object.entries(VIEWS).filter(([, view]) => view.key).map(([name, view]) =>
        el("a", { href: address(name), "data-view": name, title: `g ${view.key}` }, view.title))),
    el("div", { class: "scope" },
      el("label", {}, "Worktree ", el("select", {
        id: "worktree",
        on: { change: (event) => go(here().view, { ...here().params, worktree: event.target.value }) },
      })),
      el("label", {}, "Ref ", el("input", {
        id: "ref", list: "refs", placeholder: "files on disk", autocomplete: "off", spellcheck: "false",
        on: { change: toRef },
      })),
      el("datalist", { id: "refs" }),
      el("button", { type: "button", title: "Dark or light", on: { click: turnTheme } }, "Theme"),
      el("button", { type: "button", title: "Keys ( ? )", on: { click: () => openHelp(VIEWS) } }, "Keys"))),
  );
}

/** On a phone, views and scope are behind a button, so that the content has the screen. */
function openMenu(isOpen) {
  head.classList.toggle("open", isOpen);
  head.querySelector("#menu").setAttribute("aria-expanded", String(isOpen));
}

function turnTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
}

let isGoing = false;

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = event.target.matches("input, select, textarea");
  const query = head.querySelector("#query");
  if (event.key === "Escape" && typing) {
    event.target.blur();
    main.focus();
  } else if (typing && event.target === query && event.key === "ArrowDown") {
    event.preventDefault();
    moveFocus(1);
  } else if (typing && event.target === query && event.key === "/" && !query.value) {
    event.preventDefault(); // The same navigation key, pressed again.
  } else if (typing) {
    return;
  } else if (isGoing) {
    isGoing = false;
    const view = Object.keys(VIEWS).find((name) => VIEWS[name].key === event.key);
    if (view) go(view);
  } else if (event.key === "/") {
    event.preventDefault();
    query.focus();
    query.select();
  } else if (event.key === "g") {
    isGoing = true;
  } else if (event.key === "?") {
    openHelp(VIEWS);
  } else if (event.key === "j" || event.key === "ArrowDown" && event.target.matches(".item")) {
    event.preventDefault();
    moveFocus(1);
  } else if (event.key === "k" || event.key === "ArrowUp" && event.target.matches(".item")) {
    event.preventDefault();
    moveFocus(-1);
  } else {
    main.querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
  }
}

drawHead();
addEventListener("hashchange", show);
addEventListener("keydown", onKey);
show();
