// A place of the page: a view with its parameters, and its worktree and ref. All of it is in the
// URL fragment, so that links and the back button work.

const EVERYWHERE = ["worktree", "ref"];

/** The current place, from the URL: `{view, params}`. */
export function here() {
  const [view, query = ""] = splitOnce(location.hash.replace(/^#\/?/, ""), "?");
  return { view: view || "search", params: Object.fromEntries(new URLSearchParams(query)) };
}

/** The URL of a place; worktree and ref only change if they are given. */
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

/** Go to a place without a history entry: the back button skips the current one. */
export function goOn(view, params) {
  location.replace(address(view, params));
}

/** The worktree and ref of the current place, for a question. */
export const scope = () => pick(here().params);

/**
 * The URL of the code of a handle.
 *
 * A handle of a ref starts with it: `feature:src/a.py#f`. In a URL, the ref is a separate parameter.
 */
export const codeAddress = (handle) => address("code", placeOf(handle));

/** The place of a handle, as parameters. */
export function placeOf(handle) {
  const [left, symbol] = splitOnce(handle, "#");
  const lines = /:\d+(-\d+)?$/.exec(left)?.[0] ?? "";
  const place = left.slice(0, left.length - lines.length);
  const at = place.lastIndexOf(":"); // A path in a handle has none.
  const target = place.slice(at + 1) + lines + (symbol === undefined ? "" : `#${symbol}`);
  return at < 0 ? { target } : { target, ref: place.slice(0, at) };
}

/**
 * The shortest ends of paths that distinguish them: if two folders have the same name, with the
 * folders above.
 *
 * A list cuts a long text at its end, and worktrees are often in the same folder.
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
