// Where the page is: a view with its parameters, and the worktree and ref it is about. All of it
// is in the part of the address behind `#`, so that a link or the back button leads there again.

const EVERYWHERE = ["worktree", "ref"];

/** The place that the address names: `{view, params}`. */
export function here() {
  const [view, query = ""] = splitOnce(location.hash.replace(/^#\/?/, ""), "?");
  return { view: view || "search", params: Object.fromEntries(new URLSearchParams(query)) };
}

/** The address of a place; worktree and ref stay as they are unless they are named. */
export function address(view, params = {}) {
  const now = here().params;
  const kept = Object.fromEntries(EVERYWHERE.map((name) => [name, now[name]]));
  const pairs = Object.entries({ ...params, ...pick({ ...kept, ...params }) });
  const query = new URLSearchParams(pairs.filter(([, value]) => value));
  return `#/${view}${query.size ? `?${query}` : ""}`;
}

/** Go to a place. */
export function go(view, params) {
  location.hash = address(view, params);
}

/** Go on to a place that is no step of its own: the back button leads to the one before. */
export function goOn(view, params) {
  location.replace(address(view, params));
}

/** The worktree and ref of the place, for a question. */
export const scope = () => pick(here().params);

/**
 * The address of the code that a handle names.
 *
 * A handle of a ref begins with it: `feature:src/a.py#f`. In an address the ref is a part of its own.
 */
export function codeAddress(handle) {
  const [left, symbol] = splitOnce(handle, "#");
  const lines = /:\d+(-\d+)?$/.exec(left)?.[0] ?? "";
  const place = left.slice(0, left.length - lines.length);
  const at = place.lastIndexOf(":"); // A path in a handle has none.
  const target = place.slice(at + 1) + lines + (symbol === undefined ? "" : `#${symbol}`);
  return address("code", at < 0 ? { target } : { target, ref: place.slice(0, at) });
}

/**
 * The ends of paths that tell them apart: where two folders have one name, those above it as well.
 *
 * A list cuts a long text at its end, and worktrees often lie in one folder.
 */
export function shortNames(paths) {
  const ending = (path, parts) => path.split(/[\\/]/).filter(Boolean).slice(-parts).join("/");
  return paths.map((path) => {
    for (let parts = 1; parts < 20; parts += 1) {
      const name = ending(path, parts);
      if (paths.every((other) => other === path || ending(other, parts) !== name)) {
        return name || path;
      }
    }
    return path;
  });
}

function pick(params) {
  return Object.fromEntries(EVERYWHERE.map((name) => [name, params[name] ?? ""]));
}

function splitOnce(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
