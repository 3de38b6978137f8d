// Questions to the server, whose answers are updated while they are visible.

const MOST_KNOWN = 40;
const LEAST_PAUSE_MS = 2_000;
const PAUSE_FACTOR = 10; // Times the duration of the answer, so that repeated questions use at most a tenth of the time.

/** The server rejected the question, or did not answer. */
export class Failed extends Error {}

const known = new Map();

/**
 * The answer to a question: `{answer, changed}`; `changed` is false if it is the same as before.
 *
 * The server compares answers by their tag and sends only those that differ.
 */
export async function ask(name, params, signal) {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value));
  const url = `api/${name}${query.size ? `?${query}` : ""}`;
  const before = known.get(url);
  const headers = before ? { "If-None-Match": before.tag } : {};
  let response;
  try {
    response = await fetch(url, { headers, signal, cache: "no-store", redirect: "error" });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Failed("The server does not answer. Start `codelens ui` again, and open its address.");
  }
  if (response.status === 304) return { answer: before.answer, changed: false };
  const isJson = response.headers.get("Content-Type") === "application/json";
  const answer = isJson ? await response.json() : { error: (await response.text()).trim() };
  if (!response.ok) throw new Failed(answer.error || `The server answered ${response.status}.`);
  known.delete(url);
  known.set(url, { tag: response.headers.get("ETag"), answer });
  if (known.size > MOST_KNOWN) known.delete(known.keys().next().value);
  return { answer, changed: true };
}

/**
 * Asks and draws, and repeats this while the page is visible if the answer changes.
 *
 * Returns a promise of the first drawing. It ends when `signal` is aborted.
 */
export async function follow(name, params, draw, signal, { again = true } = {}) {
  let isDrawn = false;
  const once = async () => {
    const start = performance.now();
    try {
      const { answer, changed } = await ask(name, params, signal);
      if (signal.aborted) return;
      if (changed || !isDrawn) draw(answer, null);
      isDrawn = true;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Failed)) throw error;
      draw(null, error.message);
      isDrawn = false;
    }
    if (again) later(once, Math.max(LEAST_PAUSE_MS, PAUSE_FACTOR * (performance.now() - start)), signal);
  };
  await once();
}

/** Calls `work` after a pause, as soon as the page is visible. */
function later(work, pauseMs, signal) {
  const timer = setTimeout(() => {
    if (!document.hidden) work();
    else document.addEventListener("visibilitychange", () => !signal.aborted && work(), { once: true });
  }, pauseMs);
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
}
