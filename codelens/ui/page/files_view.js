// Folders and files, with what each file defines.

import { badge, count, el, remarks } from "./elements.js";
import { address, codeAddress, scope } from "./places.js";
import { follow } from "./questions.js";

const MOST_NAMES = 8;

export function showFiles({ main, params, page, signal }) {
  const target = params.target || ".";
  main.replaceChildren(el("p", {}, "Loading..."));
  follow("outline", { target, detail: "names", ...scope() }, (answer, failure) => {
    if (failure) {
      main.replaceChildren(el("h1", {}, target), el("p", { class: "failure" }, failure));
      return;
    }
    page.receipt(answer.receipt);
    const parts = target === "." ? [] : target.split("/");
    main.replaceChildren(
      el("h1", { class: "path" }, el("a", { href: address("files") }, answer.receipt.worktree.split("/").pop()),
        parts.map((name, at) => ["/", el("a", { href: address("files", { target: parts.slice(0, at + 1).join("/") }) }, name)])),
      remarks(answer.notes),
      el("ul", { class: "list" },
        answer.folders.map((folder) => el("li", {},
          el("a", { class: "item", href: address("files", { target: folder.path.replace(/\/$/, "") }) },
            `${shortened(folder.path, target)}/`),
          " ", el("span", { class: "doc" }, count(folder.files, "file")))),
        answer.results.map((file) => el("li", {},
          el("a", { class: "item", href: codeAddress(handleOf(file)) }, shortened(file.path, target)),
          " ", badge(file.language), " ",
          el("span", { class: "doc" }, `${count(file.lines, "line")} `),
          names(file)))));
  }, signal);
}

// The handle of a file is that of its first definition, without the definition.
const handleOf = (file) => file.items[0]?.handle.replace(/#.*$/s, "") ?? file.path;
const shortened = (path, folder) =>
  (folder !== "." && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path).replace(/\/$/, "");

function names(file) {
  const top = file.items.filter((item) => item.depth === 0);
  return [
    top.slice(0, MOST_NAMES).map((item) => [el("a", { class: "site", href: codeAddress(item.handle) }, item.name), " "]),
    top.length > MOST_NAMES ? `and ${top.length - MOST_NAMES} more` : "",
  ];
}
